"""The graph of the person's entities, mirrored in memory from what storage keeps.

mirror    the graph as it is now, kept in step with the store
loading   reads it whole, or only what changed
snapshot  the graph at one moment: names, edges, who is named in a text
asking    what a question asks of it: roles, verbs, times
walk      personalised PageRank around what is named
paths     a shortest path between two
rules     policies/graph.toml
suggest   which entities may be one
"""
