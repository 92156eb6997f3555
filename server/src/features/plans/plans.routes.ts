// Plans over HTTP.

import { pinnedUserOf } from '../../contract/actor.ts';
import { route } from '../../contract/route.ts';
import { Listing, Page, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';
import {
  changePlan,
  createPlan,
  findPlanIdInForce,
  listProjectPlans,
  makePlanDefault,
  planNotFound,
  readPlan,
  removePlan,
} from './plans.service.ts';
import { NewPlan, PlanChange, PlanView, viewPlan } from './plans.wire.ts';

const params = Type.Object({ planId: Uuid });
const onePlan = Type.Object({ plan: PlanView });

export const planRoutes = [
  route(
    {
      id: 'plans.list',
      method: 'GET',
      path: '/project/plans',
      summary: 'List plans',
      access: { actors: ['project', 'integration'], scope: 'plans:read' },
      rateLimit: 'integration',
      audit: null,
      query: Page(),
      returns: { status: 200, body: Listing('plans', PlanView) },
      errors: [],
    },
    async ({ deps, actor, query }) => {
      const { plans, next_cursor } = await listProjectPlans(deps, actor.projectId, query);
      return { plans: plans.map(viewPlan), next_cursor };
    },
  ),
  route(
    {
      id: 'plans.create',
      method: 'POST',
      path: '/project/plans',
      summary: 'Create a plan',
      description: 'The first plan of a project becomes its default.',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      idempotent: true,
      audit: 'plan.create',
      body: NewPlan,
      returns: { status: 201, body: onePlan },
      errors: [],
    },
    async ({ deps, actor, body, audit }) => ({
      plan: viewPlan(await createPlan(deps, actor.projectId, body, audit)),
    }),
  ),
  route(
    {
      id: 'plans.read',
      method: 'GET',
      path: '/project/plans/:planId',
      summary: 'Read a plan',
      description: 'A user or space token can only read the plan of its own user.',
      access: { actors: ['project', 'integration', 'user', 'space'], scope: 'plans:read' },
      rateLimit: 'integration',
      audit: null,
      params,
      returns: { status: 200, body: onePlan },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { planId } }) => {
      const plan = await readPlan(deps, actor.projectId, planId);
      const pinned = pinnedUserOf(actor);
      if (pinned !== null && (await findPlanIdInForce(deps, actor.projectId, pinned)) !== plan.id)
        throw planNotFound();
      return { plan: viewPlan(plan) };
    },
  ),
  route(
    {
      id: 'plans.update',
      method: 'PUT',
      path: '/project/plans/:planId',
      summary: 'Change a plan',
      description:
        'Changes only the given fields. Null clears description, storageLimit and allowedMimes, and resets maxFiles and maxSpaces to their defaults.',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: 'plan.update',
      params,
      body: PlanChange,
      returns: { status: 200, body: onePlan },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { planId }, body, audit }) => ({
      plan: viewPlan(await changePlan(deps, actor.projectId, planId, body, audit)),
    }),
  ),
  route(
    {
      id: 'plans.delete',
      method: 'DELETE',
      path: '/project/plans/:planId',
      summary: 'Delete a plan',
      description:
        'If the default plan is deleted, the oldest remaining plan becomes the default. The default plan cannot be deleted while users without their own plan depend on it.',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: 'plan.delete',
      params,
      returns: { status: 204 },
      errors: ['NOT_FOUND', 'CONFLICT'],
    },
    async ({ deps, actor, params: { planId }, audit }) => removePlan(deps, actor.projectId, planId, audit),
  ),
  route(
    {
      id: 'plans.makeDefault',
      method: 'PUT',
      path: '/project/plans/:planId/default',
      summary: 'Make a plan the default',
      access: { actors: ['project'] },
      rateLimit: 'integration',
      audit: 'plan.update',
      params,
      returns: { status: 200, body: onePlan },
      errors: ['NOT_FOUND'],
    },
    async ({ deps, actor, params: { planId }, audit }) => ({
      plan: viewPlan(await makePlanDefault(deps, actor.projectId, planId, audit)),
    }),
  ),
];
