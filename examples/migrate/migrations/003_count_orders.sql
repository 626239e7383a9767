ALTER TABLE customers ADD COLUMN orders INTEGER NOT NULL DEFAULT 0;

UPDATE customers SET orders = orders + (SELECT count(*) FROM orders o WHERE o.customer = customers.id);
