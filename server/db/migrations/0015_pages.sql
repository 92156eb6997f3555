-- Pages of files end by the stored size of what they show, which must not depend on how well it compresses. Reading a
-- page does not have to decompress it then, either.
alter table files alter column metadata set storage external, alter column tags set storage external;
