// HTTP shapes of events.

import { eventTypes } from '../../contract/event.ts';
import { Choice, Named, Nullable, Timestamp, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';

export const EventView = Named('Event', {
  id: Uuid,
  type: Choice(eventTypes, { 'x-name': 'EventType' }),
  created_at: Timestamp,
  project_id: Uuid,
  user_id: Nullable(Uuid),
  data: Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        'The resource as its detail read shows it, without `url` and `url_expires_at`; its last state if it was deleted. The job of an `image.*` event. The user with `threshold`, 80 or 100, for `quota.threshold`.',
      examples: [{ id: '6f9619ff-8b86-4d01-b42d-00cf4fc964ff', name: 'holiday.jpg', size: 2_400_000 }],
    },
  ),
});

export const EventsPage = Type.Object({
  events: Type.Array(EventView),
  next_cursor: Type.String({
    description: 'Continues after this page, also after an empty one.',
    examples: ['q8Xk2mVd0pZr1tYwWyJhIiwiYiJd'],
  }),
});

const typesAndPlace = {
  cursor: Type.Optional(
    Type.String({
      maxLength: 8_192,
      description: '`next_cursor` of the page before. Valid for 7 days. Without it: from now on.',
    }),
  ),
  from: Type.Optional(
    Choice(['oldest'], { description: 'Without a cursor: begin with the oldest event that is kept.' }),
  ),
  types: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'Only these types, separated by commas. `file.*` stands for all types of a group.',
      examples: ['file.*,quota.threshold'],
    }),
  ),
};

export const FeedQuery = Type.Object({
  ...typesAndPlace,
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'Events on a page.' }),
  wait: Type.Integer({
    minimum: 0,
    maximum: 30,
    default: 0,
    description: 'Seconds to wait for the first event if there is none yet.',
    examples: [0],
  }),
});

export const StreamQuery = Type.Object(typesAndPlace);
