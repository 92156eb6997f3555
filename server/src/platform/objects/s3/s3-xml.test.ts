import { describe, expect, it } from 'vitest';
import { blocksOf, decodeListedKey, escapeXml, isDocument, textOf } from './s3-xml.ts';

describe('s3-xml', () => {
  it('reads the first text of a tag, entities decoded, whatever the attributes', () => {
    expect(textOf('<A xmlns="http://x/">a &lt;&#38;&gt; &quot;&#x1F600;&apos;</A><A>b</A>', 'A')).toBe(
      `a <&> "😀'`,
    );
    expect(textOf('<A></A>', 'A')).toBe('');
    expect(textOf('<B>b</B>', 'A')).toBeUndefined();
    expect(textOf('<A>&unknown; &#x110000;</A>', 'A')).toBe('&unknown; &#x110000;');
  });

  it('takes no tag for another that begins alike, and no empty element for an opening', () => {
    const xml = '<Upload><UploadId>1</UploadId><Key/></Upload><Upload><Key >k</Key></Upload>';
    expect(blocksOf(xml, 'Upload').map((block) => textOf(block, 'UploadId'))).toEqual(['1', undefined]);
    expect(textOf('<Key /><Key>k</Key>', 'Key')).toBe('k');
  });

  it('reads CDATA as it stands, whatever looks like a tag or an entity in it', () => {
    expect(textOf('<Key><![CDATA[a/b & c]]></Key>', 'Key')).toBe('a/b & c');
    expect(textOf('<Key>a&amp;<![CDATA[&amp;</Key>]]>&lt;<![CDATA[]]></Key>', 'Key')).toBe('a&&amp;</Key><');
    const list = '<Contents><Key><![CDATA[1]]></Key></Contents><Contents><Key>2</Key></Contents>';
    expect(blocksOf(list, 'Contents').map((block) => textOf(block, 'Key'))).toEqual(['1', '2']);
  });

  it('knows a whole document by its root, and takes neither another nor a part for it', () => {
    for (const whole of ['<A/>', '<A x="1" />', '<?xml version="1.0"?>\n<A>1</A>', ' \n <A><B/></A>\n'])
      expect(isDocument(whole, 'A'), whole).toBe(true);
    for (const other of ['', '<A>', '<AB></AB>', '<B><A></A></B>', '<A><B/>', 'A', '<html>A</html>'])
      expect(isDocument(other, 'A'), other).toBe(false);
  });

  it('reads every block, across lines', () => {
    expect(blocksOf('<K>\n1\n</K>\n<K>2</K>', 'K')).toEqual(['\n1\n', '2']);
  });

  it('decodes listed keys, and leaves alone what is no encoding', () => {
    expect(decodeListedKey('a+b%2Bc%2F%C3%A5')).toBe('a b+c/å');
    expect(decodeListedKey('100%')).toBe('100%');
  });

  it('escapes what it reads back', () => {
    const text = `<a & "b">`;
    expect(textOf(`<T>${escapeXml(text)}</T>`, 'T')).toBe(text);
  });
});
