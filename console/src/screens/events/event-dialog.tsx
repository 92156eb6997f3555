// One event, as programs get it. Most of it was written by strangers.
import type { FeedEvent } from '@pakhus/client';
import { Link } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { formatMoment } from '../../ui/format.ts';
import { Foreign } from '../../ui/parts.tsx';
import { Listing } from '../../ui/snippet.tsx';
import { describeType } from './event-types.ts';
import { describeSubject } from './subject.ts';

interface EventDialogProps {
  readonly event: FeedEvent;
  readonly onClose: () => void;
}

export function EventDialog({ event, onClose }: EventDialogProps) {
  const texts = t.events;
  const { type, created_at, user_id } = event;
  return (
    <Dialog title={describeType(type) ?? type} onClose={onClose}>
      <dl class="facts">
        <dt>{texts.about}</dt>
        <dd>
          <Foreign>{describeSubject(event)}</Foreign>
        </dd>
        <dt>{texts.when}</dt>
        <dd>{formatMoment(created_at)}</dd>
        {user_id && [
          <dt key="label">{texts.user}</dt>,
          <dd key="user" class="mono">
            {type === 'user.deleted' ? user_id : <Link to={`/users/${user_id}/files`}>{user_id}</Link>}
          </dd>,
        ]}
      </dl>
      <section class="stack tight">
        <h3>{texts.json}</h3>
        <Listing text={JSON.stringify(event, null, 2)} />
      </section>
    </Dialog>
  );
}
