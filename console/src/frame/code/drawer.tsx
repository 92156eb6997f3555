// The drawer "as code": what the screen asked for, to be repeated by a program.
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { toCall, withoutRepeats } from './calls.ts';
import { toCurl } from './curl.ts';
import { type RecordedRequest, requests } from './record.ts';

export function CodeDrawer({ onClose }: { onClose: () => void }) {
  const drawer = useRef<HTMLElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    drawer.current?.focus();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  const texts = t.frame.code;
  return (
    <aside
      ref={drawer}
      class="drawer"
      aria-label={texts.title}
      tabIndex={-1}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <header class="row spread">
        <h2>{texts.title}</h2>
        <Button kind="plain" size="small" icon="close" label={t.ui.close} onPress={onClose} />
      </header>
      <p class="soft">{texts.hint}</p>
      {requests.value.length === 0 && <p>{texts.empty}</p>}
      {withoutRepeats(requests.value).map((request) => (
        <Entry key={request.id} request={request} />
      ))}
    </aside>
  );
}

function Entry({ request }: { request: RecordedRequest }) {
  const texts = t.frame.code;
  const call = toCall(request);
  return (
    <section class="stack tight">
      <h3 class="mono">
        {request.method} {request.path}
      </h3>
      <Snippet name={texts.curl} text={toCurl(request)} />
      {call && <Snippet name={texts.client} text={call} />}
    </section>
  );
}
