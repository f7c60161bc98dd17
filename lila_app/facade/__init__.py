"""Small typed façades over the rooms, one a noun; front-ends reach them through the assistant.

They translate between what a person says (text, ids, times) and what the rooms keep, and return
plain views (lila_app.views). None of them calls a model.
"""
