// The hidden inputs behind the upload buttons.
import { useRef } from 'preact/hooks';
import { useBrowsing } from './context.ts';
import { readChosen } from './dropped.ts';

export interface Chooser {
  readonly inputs: preact.JSX.Element;
  chooseFiles(): void;
  chooseFolder(): void;
  takePhoto(): void;
}

/** A camera is offered where a finger is the pointer. */
export const hasCamera = (): boolean => matchMedia('(pointer: coarse)').matches;

export function useChooser(): Chooser {
  const { model, t } = useBrowsing();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const take = (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    const chosen = [...(input.files ?? [])];
    const current = model.listing.folder.peek();
    // Files that were interrupted go on in the folder where they began.
    const isFolder = input === folder.current;
    model.uploads.add(isFolder ? readChosen(chosen, current) : model.interrupted.match(chosen, current));
    input.value = '';
  };
  const hidden = { type: 'file', hidden: true, tabIndex: -1, onChange: take } as const;
  return {
    inputs: (
      <>
        <input {...hidden} ref={files} multiple aria-label={t('uploadFiles')} data-chooser="files" />
        <input
          {...hidden}
          ref={folder}
          aria-label={t('uploadFolder')}
          data-chooser="folder"
          {...{ webkitdirectory: true }}
        />
        <input {...hidden} ref={camera} accept="image/*" capture="environment" aria-label={t('takePhoto')} />
      </>
    ),
    chooseFiles: () => files.current?.click(),
    chooseFolder: () => folder.current?.click(),
    takePhoto: () => camera.current?.click(),
  };
}
