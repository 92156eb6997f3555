// The S3 sink as a process of its own, so that neither the load nor the service shares its event loop. Forked; sends the
// environment of a Pakhus that stores there.
import { startS3Sink } from './s3-sink.mjs';

process.send(await startS3Sink());
process.on('disconnect', () => process.exit());
