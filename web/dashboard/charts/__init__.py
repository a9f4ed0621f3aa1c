"""The geometry of the charts, a module each; `templates/dashboard/charts/` draws them as SVG."""
