// What every card of a project's screen gets.
import type { Project } from '@pakhus/client';

export interface ProjectCardProps {
  readonly project: Project;
  readonly onChanged: () => Promise<unknown>;
}
