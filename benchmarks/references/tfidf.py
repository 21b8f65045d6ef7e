"""scikit-learn's TfidfVectorizer: for every text the texts most like it, by cosine.
Reads {"texts": […], "top": n, "options": {…}} (options of the vectorizer) from a file; prints each text's
nearest as [index, cosine], and the CPU seconds."""

import json
import sys
import time

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import NearestNeighbors

with open(sys.argv[1], encoding="utf-8") as file:
    asked = json.load(file)
began = time.process_time()
vectors = TfidfVectorizer(**asked["options"]).fit_transform(asked["texts"])
search = NearestNeighbors(metric="cosine", algorithm="brute", n_jobs=1).fit(vectors)
distances, indices = search.kneighbors(n_neighbors=asked["top"])
seconds = time.process_time() - began
nearest = [
    [[int(there), 1 - float(distance)] for there, distance in zip(*pair, strict=True)]
    for pair in zip(indices, distances, strict=True)
]
json.dump({"seconds": seconds, "nearest": nearest}, sys.stdout)
