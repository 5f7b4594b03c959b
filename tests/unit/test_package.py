"""The names of the package, which are loaded when they are first used."""

import pytest

import ebbtide


@pytest.mark.parametrize("name", ebbtide.__all__)
def test_every_name_is_there(name):
    assert name in dir(ebbtide)
    assert getattr(ebbtide, name) is not None


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="no attribute 'Raesoner'"):
        _ = ebbtide.Raesoner
