// The least that could answer the same question: fastify, a pool, one named statement, and no questions asked
// of the caller. What Pakhus is held against.
import { fastify } from 'fastify';
import pg from 'pg';

// Ten connections, the default of `pg`: four and 32 were tried and came out much the same.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });

const text = `
  select u.id, u.external_id, u.active, u.used_bytes, u.created_at, u.updated_at, to_json(p) as plan
  from users u
  left join plans p on p.id = coalesce(u.plan_id,
    (select d.id from plans d where d.project_id = u.project_id and d.is_default))
  where u.project_id = $1 and u.id = $2`;

const server = fastify({ logger: false });
server.get('/projects/:projectId/users/:userId', async ({ params }, reply) => {
  const { rows } = await pool.query({ name: 'user', text, values: [params.projectId, params.userId] });
  return rows.length === 0 ? reply.code(404).send({ error: 'not found' }) : { user: rows[0] };
});
console.log(`ready at ${await server.listen({ host: '127.0.0.1', port: 0 })}`);
process.once('SIGTERM', () => process.exit(0));
