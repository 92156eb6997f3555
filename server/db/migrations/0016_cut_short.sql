-- A try at an image that ends with the process that makes it is not held against the image, unless the image is the
-- likely cause.

alter table compression_jobs
  -- Grows with every try, so that one which was given up for lost has no say any more.
  add column claim integer not null default 0,
  -- While the present try decodes the image with no other image in the works.
  add column alone boolean not null default false,
  -- How many tries in a row have ended with their process while that was so.
  add column deaths_alone integer not null default 0;
