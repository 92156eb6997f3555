// An action outside of a form: what goes wrong is said in a toast.
import { describeError } from './error-note.tsx';
import { showToast } from './toasts.tsx';

export async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    showToast(describeError(error));
  }
}
