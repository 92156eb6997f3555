-- How much a project has waiting decides where its next image goes in the queue.

create index compression_jobs_waiting on compression_jobs (project_id) where status in ('pending', 'processing');
