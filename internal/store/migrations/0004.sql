-- A placeholder, to be replaced.
SELECT 1;
