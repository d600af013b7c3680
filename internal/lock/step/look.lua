-- Says how things are, and changes nothing.

return state(0)
