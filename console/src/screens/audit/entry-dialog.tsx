// One row of the audit log. Most of it was written by strangers.
import type { AuditEntry } from '@pakhus/client';
import { setQuery } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatTime } from '../../ui/format.ts';
import { Foreign } from '../../ui/parts.tsx';
import { Listing } from '../../ui/snippet.tsx';
import { isAdmin } from './filter.ts';

interface EntryDialogProps {
  readonly entry: AuditEntry;
  readonly onClose: () => void;
}

export function EntryDialog({ entry, onClose }: EntryDialogProps) {
  const texts = t.audit;
  const title = (texts.actions as Readonly<Record<string, string>>)[entry.action] ?? entry.action;
  const fields = Object.entries(texts.field) as [keyof typeof texts.field, string][];
  const narrow = (changes: Readonly<Record<string, string>>) => () => {
    onClose();
    setQuery(changes);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <dl class="facts">
        {fields.map(([name, label]) => {
          const value = entry[name];
          if (value === null) return null;
          return [
            <dt key={`${name} label`}>{label}</dt>,
            <dd key={name} class={/id$|_at$/.test(name) ? 'mono' : ''}>
              {name === 'created_at' && <div>{formatTime(value)}</div>}
              <Foreign>{value}</Foreign>
            </dd>,
          ];
        })}
      </dl>
      {Object.keys(entry.metadata).length > 0 && (
        <section class="stack tight">
          <h3>{texts.metadata}</h3>
          <Listing text={JSON.stringify(entry.metadata, null, 2)} />
        </section>
      )}
      <div class="row">
        <Button size="small" onPress={narrow({ action: entry.action })}>
          {texts.sameAction}
        </Button>
        {entry.user_id && (
          <Button size="small" onPress={narrow({ user_id: entry.user_id })}>
            {texts.sameUser}
          </Button>
        )}
        {entry.project_id && isAdmin() && (
          <Button size="small" onPress={narrow({ project_id: entry.project_id })}>
            {texts.sameProject}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
