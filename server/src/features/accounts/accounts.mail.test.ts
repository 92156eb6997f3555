import { expect, test } from 'vitest';
import { resetMail } from './accounts.mail.ts';

test('nothing in an address or a link becomes markup', () => {
  const to = '"<img src=x>&"@example.com';
  const { text, html } = resetMail(to, 'https://pakhus.example/reset?a=1&b="2"', 30);
  expect(html).toContain('&quot;&lt;img src=x&gt;&amp;&quot;@example.com');
  expect(html).toContain('href="https://pakhus.example/reset?a=1&amp;b=&quot;2&quot;"');
  expect(html).not.toContain('<img');
  // Plain text is not escaped: the link has to work.
  expect(text).toContain(to);
  expect(text).toContain('https://pakhus.example/reset?a=1&b="2"');
});
