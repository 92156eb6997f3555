// Ends the session, here or everywhere.
import { describeError } from '../ui/error-note.tsx';
import { showToast } from '../ui/toasts.tsx';
import { client } from './api.ts';
import { navigate } from './router.tsx';
import { leave } from './session.ts';

export async function logOut(end: () => Promise<unknown> = () => client.auth.logout()): Promise<void> {
  try {
    await end();
  } catch (error) {
    // Without a network the cookie stays: then the person is not logged out, and must see that.
    showToast(describeError(error));
    return;
  }
  leave();
  navigate('/');
}
