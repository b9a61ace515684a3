"""The networks that notebooks train with the course's ops: `digits`, `letters`, and their data;
`skip_gram`, and `hybrid` with its model `placement`, whose work is mostly rows of a table."""
