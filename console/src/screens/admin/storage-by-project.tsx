// Which projects store most, as bars with numbers.
import { useLoad } from '../../browser/load.ts';
import { client } from '../../frame/api.ts';
import { Link } from '../../frame/router.tsx';
import { t } from '../../texts/texts.ts';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { Show } from '../../ui/load.tsx';
import { Foreign } from '../../ui/parts.tsx';

const readMax = 100;
const shownMax = 8;

export function StorageByProject() {
  const page = useLoad((signal) => client.admin.stats.projects({ limit: readMax }, { signal }).page(), []);
  const texts = t.admin.overview;
  return (
    <section class="card stack">
      <div class="row spread">
        <h2>{texts.storageByProject}</h2>
        <Link to="/projects">{texts.allProjects}</Link>
      </div>
      <Show of={page}>
        {({ projects, next_cursor }) => (
          <>
            <BarList projects={projects} />
            {next_cursor && <p class="soft">{texts.storageHint(readMax)}</p>}
          </>
        )}
      </Show>
    </section>
  );
}

interface Stored {
  readonly id: string;
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
}

/** A value that is not zero stays visible. */
const Bar = ({ share }: { share: number }) => (
  <span class="bar" style={{ inlineSize: `max(3px, ${share * 100}%)` }} aria-hidden="true" />
);

function BarList({ projects }: { projects: readonly Stored[] }) {
  const largest = [...projects].sort((one, other) => other.bytes - one.bytes).slice(0, shownMax);
  const most = largest[0]?.bytes ?? 0;
  if (most === 0) return <p class="soft">{t.admin.overview.noStorage}</p>;
  return (
    <table class="bar-list">
      <caption class="unseen">{t.admin.overview.storageByProject}</caption>
      <thead class="unseen">
        <tr>
          <th scope="col">{t.admin.projects.name}</th>
          <th scope="col">{t.admin.projects.storage}</th>
          <th scope="col">{t.admin.projects.files}</th>
        </tr>
      </thead>
      <tbody>
        {largest.map(({ id, name, files, bytes }) => (
          <tr key={id}>
            <th scope="row">
              <Link to={`/projects/${id}`}>
                <Foreign>{name}</Foreign>
              </Link>
            </th>
            <td class="bytes">
              {bytes > 0 && <Bar share={bytes / most} />}
              <span>{formatBytes(bytes)}</span>
            </td>
            <td class="soft">{t.admin.overview.fileCount(files, formatNumber(files))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
