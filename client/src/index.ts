// @pakhus/client: what works in every JavaScript runtime with fetch.
export { type Client, createClient, type FilesClient, type UserReference } from './client.ts';
export { type ClientErrorCode, PakhusError } from './error.ts';
export type { CallOptions, ClientOptions, CreateOptions } from './http.ts';
export type { Listing } from './listing.ts';
export type { ContentOptions, DownloadOptions, Shares, Variants, ZipOptions } from './resources/delivery.ts';
export type { EventFeed, EventOptions } from './resources/events.ts';
export type { ChangeOptions, DeleteOptions, FolderEntry, ImageOptions } from './resources/files.ts';
export type { WaitOptions } from './resources/project.ts';
export type { UserResource } from './resources/user.ts';
export type { Webhooks } from './resources/webhooks.ts';
export type * from './types.ts';
export type { UploadOptions } from './upload/job.ts';
export type { Progress } from './upload/progress.ts';
export type { Source, UploadInput } from './upload/source.ts';
export type { ResumeStore } from './upload/store.ts';
export type { UploadTask } from './upload/task.ts';
