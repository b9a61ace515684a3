"""What a data sheet promises, and the ridge points that follow from it."""

from warplens.model.devices import sheet

H200 = sheet("H200")
