"""HTML pages: templates, one style sheet, one set of colours, plots as SVG. Imported to make a page."""
