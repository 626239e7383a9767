-- Applied twice, this would multiply every total by 10,000.
UPDATE orders SET total = round(total * 100);
