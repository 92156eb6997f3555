// Errors that several features throw. What a caller may not see must look exactly like what does not exist.
import { PakhusError } from '../kernel/error.ts';

export const userNotFound = () =>
  new PakhusError('NOT_FOUND', 'There is no such user in this project: check the id');

export const spaceNotFound = () => new PakhusError('NOT_FOUND', 'This user has no such space: check the id');

export const tooMany = (things: 'files' | 'spaces', limit: 'maxFiles' | 'maxSpaces', max: number) =>
  new PakhusError(
    'OVER_QUOTA',
    `The user may have at most ${max} ${things}: delete some or raise ${limit} of its plan`,
    { details: { limit, max } },
  );

export const projectInactive = () =>
  new PakhusError('FORBIDDEN', 'The project is not active: ask the operator to activate it');
