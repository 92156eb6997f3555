// What the queue of uploads tells the rest of the file browser, the person and the page around it.
import type { Abilities } from './abilities.ts';
import type { Host } from './host.ts';
import type { Listing } from './listing.ts';
import type { Quota } from './quota.ts';
import type { Toasts } from './toasts.ts';
import type { UploadRunnerOptions } from './upload-runner.ts';

interface Listeners {
  readonly listing: Listing;
  readonly quota: Quota;
  readonly abilities: Abilities;
  readonly toasts: Toasts;
  readonly host: () => Host;
}

type UploadReports = Pick<UploadRunnerOptions, 'onUploaded' | 'onFailed' | 'onIdle'>;

export const createUploadReports = (listeners: Listeners): UploadReports => {
  const { listing, quota, abilities, toasts, host } = listeners;
  let isTold = false;
  return {
    onUploaded(file) {
      // A credential that may not read files gets the id alone.
      if (file.name !== undefined) listing.add(file);
      quota.refresh();
      host().onUploaded(file);
    },
    onFailed(error) {
      if (abilities.learn('upload', error) && !isTold) {
        isTold = true;
        toasts.show({ text: host().texts.t('notAllowedUpload'), isError: true });
      }
      host().onError(error);
    },
    onIdle({ done, failed }) {
      const { t } = host().texts;
      const parts = [
        done && t('uploadsDone', { count: done }),
        failed && t('uploadsFailed', { count: failed }),
      ];
      toasts.announce(parts.filter(Boolean).join(', '));
    },
  };
};
