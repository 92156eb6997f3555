// Code to read and to copy.
import { t } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { Foreign } from './parts.tsx';
import { copyText } from './secret.tsx';

export const Snippet = ({ name, text }: { name: string; text: string }) => (
  <figure class="snippet">
    <figcaption class="row spread">
      <span class="soft">{name}</span>
      <Button
        kind="plain"
        size="small"
        icon="copy"
        label={t.ui.copyOf(name)}
        onPress={() => copyText(text)}
      />
    </figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keyboard as well */}
    <pre tabIndex={0}>{text}</pre>
  </figure>
);

/** Text of strangers, such as JSON or an answer, with its lines. */
export const Listing = ({ text }: { text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: long text is scrolled by keyboard as well
  <pre class="listing" tabIndex={0} dir="ltr">
    <Foreign>{text}</Foreign>
  </pre>
);
