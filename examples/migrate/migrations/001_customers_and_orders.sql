CREATE TABLE customers (
	id   INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	fax  TEXT
);

CREATE TABLE orders (
	id       INTEGER PRIMARY KEY,
	customer INTEGER NOT NULL REFERENCES customers,
	total    REAL NOT NULL -- in euros
);

INSERT INTO customers (id, name, fax) VALUES (1, 'Ada', '+44 20 1'), (2, 'Grace', NULL);
INSERT INTO orders (customer, total) VALUES (1, 12.50), (1, 8), (2, 99.99);
