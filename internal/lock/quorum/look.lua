-- Says how things are, and changes nothing.

return said(0)
