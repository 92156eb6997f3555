// Draws its child in a shadow root, with styles of its own: those of the page and of the child do not meet.
import { render, type VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';

interface ShadowProps {
  readonly class: string;
  readonly styles: readonly string[];
  readonly children: VNode;
}

export function Shadow({ styles, children, ...rest }: ShadowProps) {
  const host = useRef<HTMLDivElement>(null);
  const sheets = useMemo(() => styles.map(toSheet), styles);
  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = sheets;
    render(children, root);
  });
  useEffect(() => {
    const root = host.current?.shadowRoot;
    return () => root && render(null, root);
  }, []);
  return <div ref={host} {...rest} />;
}

function toSheet(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}
