"""Measuring LILA against labelled data a person names; none of it is shipped."""
