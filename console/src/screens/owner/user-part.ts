// What each part of the screen of a user gets.
import type { User } from '@pakhus/client';

export interface UserPartProps {
  readonly user: User;
  /** Loads the user again. */
  readonly onChange: () => Promise<void>;
}
