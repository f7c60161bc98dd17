"""Keys of model providers: where each comes from, and that none is ever seen."""

from lila_app.keys.chain import Keys
from lila_app.keys.model import Key, KeyInfo

__all__ = ["Key", "KeyInfo", "Keys"]
