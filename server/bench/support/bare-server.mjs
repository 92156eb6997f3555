// The baseline for reads: fastify, a pool and one named statement, without authentication, log or links. Pakhus is
// compared with it.
import { fastify } from 'fastify';
import pg from 'pg';

// Ten connections, the default of `pg`: four and 32 gave much the same figures.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });

const userOf = `
  select u.id, u.external_id, u.active, u.used_bytes, u.created_at, u.updated_at, to_json(p) as plan
  from users u
  left join plans p on p.id = coalesce(u.plan_id,
    (select d.id from plans d where d.project_id = u.project_id and d.is_default))
  where u.project_id = $1 and u.id = $2`;

const filesOf = `
  select id, user_id, space_id, name, size, mime_type, storage_key, folder, tags, classifier, metadata, visibility,
    encode(sha256, 'hex') as sha256, created_at, updated_at
  from files where project_id = $1 and user_id = $2`;

const ask = async (name, text, values) => (await pool.query({ name, text, values })).rows;
const oneOr404 = (what, [row], reply) =>
  row ? { [what]: row } : reply.code(404).send({ error: 'not found' });

const user = '/projects/:projectId/users/:userId';
const server = fastify({ logger: false });
server.get(user, async ({ params }, reply) =>
  oneOr404('user', await ask('user', userOf, [params.projectId, params.userId]), reply),
);
server.get(`${user}/files/:fileId`, async ({ params }, reply) => {
  const values = [params.projectId, params.userId, params.fileId];
  return oneOr404('file', await ask('file', `${filesOf} and id = $3`, values), reply);
});
server.get(`${user}/files`, async ({ params, query }) => {
  const values = [params.projectId, params.userId, Number(query.limit)];
  return { files: await ask('files', `${filesOf} order by created_at desc, id desc limit $3`, values) };
});
console.log(`ready at ${await server.listen({ host: '127.0.0.1', port: 0 })}`);
process.once('SIGTERM', () => process.exit(0));
