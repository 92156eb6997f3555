// After a change to files that the list may show: it is read again, with the quota.
import { useBrowsing } from '../context.ts';

export function useAfterChange(): () => void {
  const { model } = useBrowsing();
  return () => {
    model.selection.clear();
    model.listing.reload();
    model.quota.refresh();
  };
}
