// HTTP shapes of plans.

import { type PlanFacts, usualMax } from '../../contract/subject.ts';
import { Bytes, Name, Named, Nullable, resourceFields } from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';

const AllowedMimes = Type.Array(
  Type.String({
    maxLength: 255,
    pattern: '^(\\*/\\*|[A-Za-z0-9_.+-]+/([A-Za-z0-9_.+-]+|\\*))$',
    examples: ['image/*'],
  }),
  {
    maxItems: 100,
    description: 'MIME types, or type/* for all subtypes; an empty list allows every type.',
    examples: [['image/*', 'application/pdf']],
  },
);
const Description = Type.String({ maxLength: 2000, examples: ['For small teams'] });
const StorageLimit = Bytes('What one user may store; unlimited when absent or null.');
const MaxFileSize = Bytes('The largest single file.');
const Max = (description: string, usual: number) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, examples: [usual] });
const MaxFiles = Max(`Files that one user may have; ${usualMax.files} when absent or null.`, usualMax.files);
const MaxSpaces = Max(
  `Spaces that one user may have; ${usualMax.spaces} when absent or null.`,
  usualMax.spaces,
);

export const PlanView = Named('Plan', {
  ...resourceFields,
  name: Name,
  description: Nullable(Description),
  storageLimit: Nullable(StorageLimit),
  maxFileSize: MaxFileSize,
  allowedMimes: AllowedMimes,
  maxFiles: Nullable(MaxFiles),
  maxSpaces: Nullable(MaxSpaces),
  is_default: Type.Boolean({ examples: [true] }),
});

export const NewPlan = Named('NewPlan', {
  name: Name,
  description: Type.Optional(Nullable(Description)),
  storageLimit: Type.Optional(Nullable(StorageLimit)),
  maxFileSize: MaxFileSize,
  allowedMimes: Type.Optional(Nullable(AllowedMimes)),
  maxFiles: Type.Optional(Nullable(MaxFiles)),
  maxSpaces: Type.Optional(Nullable(MaxSpaces)),
});

export const PlanChange = Type.Partial(NewPlan, { 'x-name': 'PlanChange' });

export type PlanChangeInput = Static<typeof PlanChange>;
export type NewPlanInput = Static<typeof NewPlan>;

export const viewPlan = (plan: PlanFacts): Static<typeof PlanView> => ({
  id: plan.id,
  name: plan.name,
  description: plan.description,
  storageLimit: plan.storageLimit,
  maxFileSize: plan.maxFileSize,
  allowedMimes: [...plan.allowedMimes],
  maxFiles: plan.maxFiles,
  maxSpaces: plan.maxSpaces,
  is_default: plan.isDefault,
  created_at: plan.createdAt,
  updated_at: plan.updatedAt,
});
