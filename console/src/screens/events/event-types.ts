// The types of events in their groups.
import type { EventType } from '@pakhus/client';
import { t } from '../../texts/texts.ts';

export type EventGroup = keyof typeof t.events.groups;

const groupOf = (type: string): string => type.split('.')[0] ?? '';

export const groupNames = (): readonly EventGroup[] => Object.keys(t.events.groups) as EventGroup[];

export const typesOf = (group: EventGroup): readonly EventType[] =>
  (Object.keys(t.events.types) as EventType[]).filter((type) => groupOf(type) === group);

/** Null for a type that is newer than this console. */
export const describeType = (type: string): string | undefined =>
  (t.events.types as Readonly<Record<string, string>>)[type];
