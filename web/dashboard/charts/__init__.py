"""The geometry of the charts; `templates/dashboard/charts.html` draws them as SVG."""
