// The content of a file, as far as a browser can show it without running any of it.
import type { StoredFile } from '@pakhus/client';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button } from './button.tsx';
import { useBrowsing } from './context.ts';
import { downloadFile } from './download.ts';
import { hasCode } from './errors.ts';
import { Icon } from './icons.tsx';
import { kindOf, previewOf } from './kinds.ts';
import { readStart } from './read-start.ts';
import type { TextKey } from './texts.ts';

const textBytesMax = 64 * 1024;
const pdfBytesMax = 50e6;

interface PreviewProps {
  readonly file: StoredFile;
}

export function Preview({ file }: PreviewProps) {
  const isBroken = useSignal(false);
  const onError = () => {
    isBroken.value = true;
  };
  if (isBroken.value) return <NoPreview file={file} reason="previewFailed" />;
  if (file.size === 0) return <NoPreview file={file} reason="previewEmpty" />;
  const media = { src: file.url, onError, part: 'preview' };
  switch (previewOf(file.mimeType)) {
    case 'image':
      return <img {...media} class="media" alt={file.name} />;
    case 'video':
      return <video {...media} class="media" controls preload="metadata" />;
    case 'audio':
      return (
        <Middle>
          <Sign file={file} />
          <audio {...media} controls preload="metadata" />
        </Middle>
      );
    case 'text':
      return <TextPreview file={file} />;
    case 'pdf':
      return <PdfPreview file={file} />;
    default:
      return <NoPreview file={file} reason="noPreview" />;
  }
}

const Middle = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="preview-middle">{children}</div>
);

const Sign = ({ file }: PreviewProps) => (
  <span class={`symbol is-large kind-${kindOf(file.mimeType)}`}>
    <Icon name={kindOf(file.mimeType)} />
  </span>
);

function NoPreview({ file, reason }: PreviewProps & { readonly reason: TextKey }) {
  const { model, t } = useBrowsing();
  return (
    <Middle>
      <Sign file={file} />
      <p>{t(reason)}</p>
      <Button icon="download" onPress={() => void downloadFile(model, file)}>
        {t('download')}
      </Button>
    </Middle>
  );
}

/** A page can read a file of another origin only if the store allows it, and is not told why it could not. */
const whyUnread = (file: StoredFile, error: unknown): TextKey =>
  hasCode(error, 'NETWORK_ERROR') && navigator.onLine && new URL(file.url).origin !== location.origin
    ? 'previewBlocked'
    : 'previewFailed';

function useContent<Content>(
  file: StoredFile,
  read: (signal: AbortSignal) => Promise<Content>,
): { content: Content | null; reason: TextKey | null } {
  const content = useSignal<Content | null>(null);
  const reason = useSignal<TextKey | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    read(abort.signal).then(
      (value) => {
        content.value = value;
      },
      (error) => {
        if (!abort.signal.aborted) reason.value = whyUnread(file, error);
      },
    );
    return () => abort.abort();
  }, [file.id]);
  return { content: content.value, reason: reason.value };
}

/** As text in every case, also HTML and SVG. */
function TextPreview({ file }: PreviewProps) {
  const { model, texts, t } = useBrowsing();
  const { content, reason } = useContent(file, async (signal) => {
    const range = [0, textBytesMax - 1] as const;
    return readStart(await model.user.files.download(file.id, { range, signal }), textBytesMax);
  });
  if (reason) return <NoPreview file={file} reason={reason} />;
  return (
    <div class="text-preview" part="preview">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled text must be reachable by keyboard */}
      <pre tabIndex={0}>{content}</pre>
      {file.size > textBytesMax && (
        <small>{t('previewCut', { bytes: texts.bytes(textBytesMax), total: texts.bytes(file.size) })}</small>
      )}
    </div>
  );
}

/**
 * The type is forced, so that nothing but a PDF viewer gets the bytes. Firefox shows it in a sandbox with scripts (its viewer's
 * own); Chromium shows no PDF in any sandbox, but runs its viewer in a process apart.
 */
const pdfSandbox = (): string | undefined =>
  CSS.supports('-moz-appearance', 'none') ? 'allow-scripts' : undefined;

function PdfPreview({ file }: PreviewProps) {
  if (file.size > pdfBytesMax) return <NoPreview file={file} reason="previewTooLarge" />;
  if (navigator.pdfViewerEnabled === false) return <NoPreview file={file} reason="noViewer" />;
  return <PdfFrame file={file} />;
}

function PdfFrame({ file }: PreviewProps) {
  const { model } = useBrowsing();
  const address = useSignal<string | null>(null);
  const { content, reason } = useContent(file, async (signal) => {
    const response = await model.user.files.download(file.id, { signal });
    return new Blob([await response.arrayBuffer()], { type: 'application/pdf' });
  });
  useEffect(() => {
    if (!content) return;
    const url = URL.createObjectURL(content);
    address.value = url;
    return () => URL.revokeObjectURL(url);
  }, [content]);
  if (reason) return <NoPreview file={file} reason={reason} />;
  return address.value ? (
    <iframe
      class="frame"
      part="preview"
      title={file.name}
      src={address.value}
      sandbox={pdfSandbox()}
      referrerpolicy="no-referrer"
    />
  ) : null;
}
