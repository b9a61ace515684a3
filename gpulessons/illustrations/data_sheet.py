"""What a data sheet promises, and the corners of the rooflines that follow from it."""

from warplens.model.devices import sheet

H200 = sheet("H200")
