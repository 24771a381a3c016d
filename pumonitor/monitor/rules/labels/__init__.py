"""How complete the labels of a window are, how late they come, what their arrival will change."""
