"""The graph of the person's entities: a networkx mirror of what storage keeps.

mirror   loads and refreshes it, finds entities named in a text, walks it
"""
