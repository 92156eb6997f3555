// Plans as HTTP shows them.
import { type Static, Type } from 'typebox';
import type { PlanFacts } from '../../contract/subject.ts';
import { Bytes, Name, Named, Nullable, resourceFields } from '../../contract/wire.ts';

const AllowedMimes = Type.Array(
  Type.String({
    maxLength: 255,
    pattern: '^(\\*/\\*|[A-Za-z0-9_.+-]+/([A-Za-z0-9_.+-]+|\\*))$',
    examples: ['image/*'],
  }),
  {
    maxItems: 100,
    description: 'MIME types, or type/* for a whole family; an empty list allows every type.',
    examples: [['image/*', 'application/pdf']],
  },
);
const Description = Type.String({ maxLength: 2000, examples: ['For small teams'] });
const StorageLimit = Bytes('What one user may store; unlimited when absent or null.');
const MaxFileSize = Bytes('The largest single file.');

export const PlanView = Named('Plan', {
  ...resourceFields,
  name: Name,
  description: Nullable(Description),
  storageLimit: Nullable(StorageLimit),
  maxFileSize: MaxFileSize,
  allowedMimes: AllowedMimes,
  is_default: Type.Boolean({ examples: [true] }),
});

export const NewPlan = Named('NewPlan', {
  name: Name,
  description: Type.Optional(Nullable(Description)),
  storageLimit: Type.Optional(Nullable(StorageLimit)),
  maxFileSize: MaxFileSize,
  allowedMimes: Type.Optional(Nullable(AllowedMimes)),
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
  is_default: plan.isDefault,
  created_at: plan.createdAt,
  updated_at: plan.updatedAt,
});
