// What the file browser loads when it is wanted: one component that shows what was asked for.
import { useEffect } from 'preact/hooks';
import type { MoreProps } from '../more-request.ts';
import { FolderMenu } from './folder-menu.tsx';
import { Links } from './links.tsx';
import { NewFolder } from './new-folder.tsx';
import { RemoveFolder } from './remove-folder.tsx';
import { Rename } from './rename.tsx';
import { Search } from './search.tsx';
import { ShareFile } from './share-file.tsx';
import { MoveFolder, PutFiles } from './target.tsx';
import { Trash } from './trash.tsx';
import { VariantPreview } from './variant-preview.tsx';
import { useZip } from './zip.ts';

export function More({ request, ...rest }: MoreProps) {
  switch (request.kind) {
    case 'menu':
      return <FolderMenu {...rest} x={request.x} y={request.y} />;
    case 'new-folder':
      return <NewFolder {...rest} />;
    case 'search':
      return <Search {...rest} />;
    case 'rename':
      return <Rename {...rest} file={request.file} />;
    case 'share':
      return <ShareFile {...rest} file={request.file} />;
    case 'variants':
      return <VariantPreview {...rest} file={request.file} />;
    case 'links':
      return <Links {...rest} />;
    case 'trash':
      return <Trash {...rest} />;
    case 'move':
    case 'copy':
      return <PutFiles {...rest} kind={request.kind} files={request.files} />;
    case 'move-folder':
      return <MoveFolder {...rest} />;
    case 'remove-folder':
      return <RemoveFolder {...rest} />;
    default:
      return <Zip {...rest} request={request} />;
  }
}

/** Shows nothing: the browser saves it. */
function Zip({ request, delivery, onClose }: MoreProps) {
  const save = useZip(delivery);
  useEffect(() => {
    onClose();
    void save(request.kind === 'zip' ? request.files : null);
  }, []);
  return null;
}
