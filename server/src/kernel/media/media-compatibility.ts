// Decides whether a declared and a detected media type can describe the same file. A signature often proves less than
// the client knows (a zip, but not which document is in it), and most formats have several names.

/** Synonyms, and formats with the same signature. Written without `x-`; the first name is the canonical one. */
const synonyms: readonly (readonly string[])[] = [
  ['image/jpeg', 'image/jpg', 'image/jpe', 'image/jfif', 'image/pjpeg'],
  ['image/png', 'image/apng', 'image/vnd.mozilla.apng'],
  ['image/bmp', 'image/ms-bmp', 'image/windows-bmp', 'image/bitmap'],
  ['image/icon', 'image/ico', 'image/vnd.microsoft.icon', 'image/win-bitmap'],
  ['image/tiff', 'image/tif'],
  ['image/heif', 'image/heif-sequence', 'image/heic', 'image/heic-sequence'],
  ['image/icns', 'image/apple-icns'],
  ['image/vnd.adobe.photoshop', 'image/photoshop', 'image/psd', 'application/photoshop', 'application/psd'],
  ['image/jp2', 'image/jpx', 'image/jpm', 'image/mj2', 'video/mj2', 'image/jpeg2000', 'image/jpeg2000-image'],
  ['image/vnd.ms-photo', 'image/jxr'],
  ['image/vnd.dwg', 'image/dwg', 'application/acad', 'application/dwg', 'application/autocad'],
  ['audio/wav', 'audio/wave', 'audio/vnd.wave', 'audio/pn-wav'],
  [
    'audio/mpeg',
    'audio/mp3',
    'audio/mpeg3',
    'audio/mpeg-3',
    'audio/mpg',
    'audio/mpa',
    'audio/mp2',
    'audio/mp1',
  ],
  ['audio/aac', 'audio/aacp', 'audio/hx-aac-adts', 'audio/vnd.dlna.adts'],
  ['audio/vnd.dolby.dd-raw', 'audio/ac3', 'audio/eac3', 'audio/a52'],
  ['audio/aiff', 'audio/aifc'],
  ['audio/midi', 'audio/mid', 'audio/sp-midi', 'application/midi'],
  ['audio/amr', 'audio/amr-wb'],
  ['audio/ape', 'audio/monkeys-audio'],
  // The first page names only one of several streams.
  [
    'application/ogg',
    'audio/ogg',
    'video/ogg',
    'audio/opus',
    'audio/vorbis',
    'audio/speex',
    'audio/flac+ogg',
  ],
  // Recorders write any of these brands, regardless of the tracks.
  [
    'video/mp4',
    'audio/mp4',
    'application/mp4',
    'audio/m4a',
    'audio/m4b',
    'audio/mp4a-latm',
    'video/m4v',
    'video/quicktime',
    'video/3gpp',
    'audio/3gpp',
    'video/3gpp2',
    'audio/3gpp2',
  ],
  ['video/matroska', 'audio/matroska', 'video/matroska-3d', 'video/webm', 'audio/webm'],
  ['video/vnd.avi', 'video/avi', 'video/msvideo'],
  ['video/mpeg', 'video/mpg', 'video/mp1s', 'video/mp2p'],
  ['video/mp2t', 'video/vnd.dlna.mpeg-tts'],
  ['application/vnd.ms-asf', 'video/ms-asf', 'audio/ms-asf', 'video/ms-wmv', 'audio/ms-wma', 'video/ms-wm'],
  ['video/flv', 'video/f4v'],
  ['application/zip', 'application/zip-compressed', 'multipart/zip'],
  ['application/rar-compressed', 'application/rar', 'application/vnd.rar'],
  ['application/7z-compressed', 'application/7z'],
  ['application/bzip2', 'application/bzip', 'application/bz2'],
  ['application/gzip', 'application/gzip-compressed', 'application/gunzip'],
  ['application/tar', 'application/gtar', 'application/ustar'],
  ['application/compress', 'application/compressed'],
  ['application/lzh-compressed', 'application/lzh', 'application/lha'],
  ['application/vnd.ms-cab-compressed', 'application/cab'],
  ['application/deb', 'application/debian-package', 'application/vnd.debian.binary-package'],
  ['application/unix-archive', 'application/archive'],
  ['application/rpm', 'application/redhat-package-manager'],
  ['application/rtf', 'text/rtf', 'text/richtext'],
  ['application/postscript', 'application/eps', 'image/eps'],
  ['application/xml', 'text/xml'],
  ['text/html', 'application/xhtml+xml'],
  ['text/vcard', 'text/directory'],
  ['text/calendar', 'text/vcalendar', 'application/ics'],
  ['application/cfb', 'application/ole-storage', 'application/ole'],
  ['application/vnd.visio', 'application/visio', 'application/vnd.ms-visio.drawing'],
  ['application/sqlite3', 'application/vnd.sqlite3', 'application/sqlite'],
  ['application/vnd.apache.parquet', 'application/parquet'],
  ['application/vnd.tcpdump.pcap', 'application/pcap'],
  ['application/mobipocket-ebook', 'application/vnd.amazon.ebook', 'application/vnd.amazon.mobi8-ebook'],
  ['application/vnd.ms-htmlhelp', 'application/chm'],
  ['application/java-vm', 'application/java-class', 'application/java'],
  ['application/shockwave-flash', 'application/vnd.adobe.flash.movie'],
  [
    'application/msdownload',
    'application/vnd.microsoft.portable-executable',
    'application/dosexec',
    'application/msdos-program',
    'application/dos-exe',
    'application/exe',
  ],
  [
    'application/elf',
    'application/executable',
    'application/sharedlib',
    'application/pie-executable',
    'application/object',
  ],
  [
    'font/ttf',
    'font/otf',
    'font/sfnt',
    'application/font-ttf',
    'application/font-truetype',
    'application/font-otf',
    'application/font-opentype',
    'application/font-sfnt',
    'application/vnd.ms-opentype',
  ],
  ['font/woff', 'application/font-woff'],
  ['font/woff2', 'application/font-woff2'],
  ['model/stl', 'model/stl-ascii', 'model/stl-binary', 'application/sla'],
];

/** Container formats, and the types that are stored in them. */
const containers: readonly (readonly [container: string, contained: RegExp])[] = [
  ['application/zip', /\+zip$|\.macroenabled\.12$/],
  ['application/zip', /^application\/vnd\.(openxmlformats-officedocument|oasis\.opendocument|sun\.xml)\./],
  ['application/zip', /^application\/vnd\.(visio|ms-visio\..+|ms-xpsdocument|ms-officetheme|ms-appx)$/],
  ['application/zip', /^application\/vnd\.apple\.(pages|numbers|keynote|pkpass|installer.*)$/],
  ['application/zip', /^application\/vnd\.(google-earth\.kmz|recordare\.musicxml|geogebra\..+|sketch)$/],
  ['application/zip', /^application\/(java-archive|vnd\.android\..+|xpinstall|oxps|appx|msix|cbz|krita)$/],
  ['application/zip', /^(model\/3mf|application\/vnd\.ms-package\..+|image\/openraster)$/],
  // Android packages and browser extensions are signed like Java archives and carry the same manifest.
  ['application/java-archive', /^application\/(vnd\.android\..+|xpinstall)$/],
  ['application/rar-compressed', /^application\/(cbr|vnd\.comicbook-rar)$/],
  ['application/gzip', /\+gzip$|^application\/(tgz|gtar|gtar-compressed|compressed-tar|compressed)$/],
  ['application/bzip2', /^application\/(bzip2?-compressed-tar|tbz2?)$/],
  ['application/xz', /^application\/(xz-compressed-tar|txz)$/],
  ['application/unix-archive', /^application\/(deb|debian-package|vnd\.debian\.binary-package)$/],
  ['application/xml', /\+xml$|-flat-xml$|^(text\/xsl|application\/(xml-dtd|plist|xliff|gpx|rss))$/],
  ['application/cfb', /^application\/(msword|msexcel|excel|mspowerpoint|powerpoint|mspublisher)$/],
  ['application/cfb', /^application\/(vnd\.visio|visio|msi|ms-installer|hwp)$/],
  ['application/cfb', /^application\/vnd\.ms-(word|excel|powerpoint|project|works|outlook|publisher)$/],
  // A password-protected OOXML document is wrapped in a CFB file.
  ['application/cfb', /^application\/vnd\.openxmlformats-officedocument\.|\.macroenabled\.12$/],
  ['application/sqlite3', /\+sqlite3$/],
  ['application/pdf', /^application\/(vnd\.adobe\.)?illustrator$/],
  ['image/tiff', /^image\/(dng|adobe-dng|canon-cr2|nikon-nef|sony-arw|pentax-pef|samsung-srw|epson-erf)$/],
  ['image/heif', /^image\/avif(-sequence)?$/],
  // Markdown may start with HTML, and is never displayed inline.
  ['text/html', /^text\/(web-)?markdown$/],
];

const canonicalNames: ReadonlyMap<string, string> = new Map(
  synonyms.flatMap((names) => names.map((name) => [name, names[0] ?? name] as const)),
);

const withoutExperimentalPrefix = (type: string): string => type.replace('/x-', '/');
const toCanonical = (name: string): string => canonicalNames.get(name) ?? name;

const isContainedIn = (name: string, other: string): boolean =>
  containers.some(([container, contained]) => toCanonical(other) === container && contained.test(name));

/** True unless the detected type is another name for the declared one, or a container of it. */
export function mediaTypesConflict(declared: string, detected: string): boolean {
  const declaredName = withoutExperimentalPrefix(declared);
  const detectedName = withoutExperimentalPrefix(detected);
  return (
    toCanonical(declaredName) !== toCanonical(detectedName) && !isContainedIn(declaredName, detectedName)
  );
}
