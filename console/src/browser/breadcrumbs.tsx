// The way from the top to the folder that is shown.
import { useBrowsing } from './context.ts';
import { Icon } from './icons.tsx';
import { toCrumbs } from './paths.ts';

export function Breadcrumbs() {
  const { model, t, go } = useBrowsing();
  const crumbs = [{ name: t('allFiles'), folder: '' }, ...toCrumbs(model.listing.folder.value)];
  return (
    <nav class="crumbs" part="breadcrumbs" aria-label={t('breadcrumbs')}>
      <ol>
        {crumbs.map(({ name, folder }, index) => (
          <li key={folder}>
            {index > 0 && <Icon name="forward" />}
            {index === crumbs.length - 1 ? (
              <span class="crumb" aria-current="page">
                <bdi>{name}</bdi>
              </span>
            ) : (
              <button type="button" class="crumb" onClick={() => go(folder)}>
                <bdi>{name}</bdi>
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
