"""Trials on real data: what outliers cost us, and what they cost what people use today.

`holdfast trials --data FOLDER` reads public data sets from a folder, corrupts some rounds, lets every
contestant predict and learn in one pass, and prints how far each is from one that knows the outliers.
"""
