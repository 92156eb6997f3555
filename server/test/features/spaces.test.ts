// Spaces: management, logins, single sessions, and what a space token can reach.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf } from '../support/bytes.ts';
import { rowsOf } from '../support/database.ts';
import { expectBalanced } from '../support/ledger.ts';
import { type PakhusOnStore, startOn, storesFor } from '../support/stores.ts';
import {
  adminSession,
  createIntegration,
  createTenant,
  createUser,
  mintToken,
  sessionOf,
  type Tenant,
  unique,
} from '../support/tenants.ts';
import { type UploadOptions, upload } from '../support/uploads.ts';

for (const store of storesFor('spaces')) describe(`on ${store.name}`, suite.bind(null, store));

const allFiles = ['files:read', 'files:write', 'files:delete'];
const password = 'ruta 66';

function suite(store: Parameters<typeof startOn>[0]): void {
  let service: PakhusOnStore;
  let admin: string;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await startOn(store);
    admin = await adminSession(service.api);
    tenant = await createTenant(service.api, admin);
  });
  afterAll(() => service.stop());

  interface Owner {
    readonly id: string;
    readonly externalId: string;
    readonly path: string;
  }
  interface Space {
    readonly id: string;
    readonly externalId: string;
    /** The URL path of the space. */
    readonly at: string;
    readonly owner: Owner;
  }

  const ownerOf = async (key = tenant.key): Promise<Owner> => {
    const user = await createUser(service.api, key);
    return { ...user, path: `/project/users/${user.id}` };
  };
  const spaceOf = async (
    given: Owner | null = null,
    fields: object = {},
    key = tenant.key,
  ): Promise<Space> => {
    const owner = given ?? (await ownerOf(key));
    const externalId = unique('space');
    const reply = await service.api.post(`${owner.path}/spaces`, key, {
      external_id: externalId,
      name: 'A space',
      scopes: allFiles,
      password,
      ...fields,
    });
    expect(reply.status, reply.text).toBe(201);
    return { id: reply.body.space.id, externalId, at: `${owner.path}/spaces/${reply.body.space.id}`, owner };
  };
  const logIn = (externalId: string, secret = password, as = tenant.key) =>
    service.api.post('/project/spaces/login', as, { external_id: externalId, password: secret });
  const tokenOf = async (space: Space): Promise<{ token: string; jti: string }> => {
    const reply = await logIn(space.externalId);
    expect(reply.status, reply.text).toBe(201);
    return reply.body;
  };
  const statusWith = async (space: Space, token: string) =>
    (await service.api.get(`${space.owner.path}/files`, token)).status;
  const put = async (owner: Owner, as: string, options: UploadOptions = {}, bytes = bytesOf(10)) =>
    upload(service.api, as, owner.path, bytes, options);

  describe('management', () => {
    test('spaces: a space can be created, read, listed, changed and deleted, by id or by external id', async () => {
      const owner = await ownerOf();
      for (const path of [owner.path, `/project/users/ext/${owner.externalId}`]) {
        const fields = { external_id: unique('s'), name: 'North', scopes: ['files:read'], limit_bytes: 1000 };
        const made = await service.api.post(`${path}/spaces`, tenant.key, { ...fields, password });
        expect(made.status, made.text).toBe(201);
        const { space } = made.body;
        expect(space).toMatchObject({
          ...fields,
          user_id: owner.id,
          used_bytes: 0,
          reserved_bytes: 0,
          active: true,
          has_password: true,
        });
        expect(made.text).not.toContain(password);
        expect(made.text).not.toMatch(/password_|argon/);
        const at = `${path}/spaces/${space.id}`;
        expect((await service.api.get(at, tenant.key)).body.space).toEqual(space);
        const listed = (await service.api.get(`${path}/spaces`, tenant.key)).body.spaces;
        expect(listed.map((one: { id: string }) => one.id)).toEqual([space.id]);
        const changed = await service.api.put(at, tenant.key, { name: 'South', limitBytes: null });
        expect(changed.body.space).toMatchObject({
          name: 'South',
          limit_bytes: null,
          scopes: ['files:read'],
        });
        const again = await service.api.put(at, tenant.key, { scopes: [], external_id: 'ignored' });
        expect(again.body.space).toMatchObject({ scopes: [], external_id: fields.external_id });
        expect((await service.api.put(`${at}/credentials`, tenant.key, { password: 'other' })).status).toBe(
          204,
        );
        expect((await service.api.delete(at, tenant.key)).status).toBe(204);
        for (const method of ['GET', 'DELETE'])
          expect((await service.api.call(method, at, { as: tenant.key })).status).toBe(404);
        expect((await service.api.put(at, tenant.key, {})).status).toBe(404);
        expect((await service.api.put(`${at}/credentials`, tenant.key, { password: 'other' })).status).toBe(
          404,
        );
      }
    });

    test('spaces.create: an external id that the project already uses is refused with 409, even in a race; another project may use it', async () => {
      const [one, two] = [await ownerOf(), await ownerOf()];
      const external_id = unique('twice');
      const fields = { external_id, name: 's' };
      const replies = await Promise.all(
        Array.from({ length: 10 }, (_, nth) =>
          service.api.post(`${(nth % 2 ? one : two).path}/spaces`, tenant.key, fields),
        ),
      );
      expect(replies.map((reply) => reply.status).sort()).toEqual([201, ...Array(9).fill(409)]);
      expect(replies.find((reply) => reply.status === 409)?.body.error.code).toBe('CONFLICT');
      const other = await createTenant(service.api, admin);
      const elsewhere = await ownerOf(other.key);
      expect((await service.api.post(`${elsewhere.path}/spaces`, other.key, fields)).status).toBe(201);
    });

    test.each<[string, object]>([
      ['no name', { external_id: 'x' }],
      ['no external id', { name: 'x' }],
      ['an unknown scope', { external_id: 'x', name: 'x', scopes: ['files:all'] }],
      ['the scope *', { external_id: 'x', name: 'x', scopes: ['*'] }],
      ['a negative limit', { external_id: 'x', name: 'x', limit_bytes: -1 }],
      ['a limit as text', { external_id: 'x', name: 'x', limit_bytes: '7' }],
      ['a password of 3 characters', { external_id: 'x', name: 'x', password: 'abc' }],
      ['NUL in the name', { external_id: 'x', name: 'a\u0000' }],
    ])('spaces.create: %s is 422', async (_what, fields) => {
      const { path } = await ownerOf();
      const reply = await service.api.post(`${path}/spaces`, tenant.key, fields);
      expect(reply.status, reply.text).toBe(422);
      expect((await service.api.get(`${path}/spaces`, tenant.key)).body.spaces).toEqual([]);
    });

    test('spaces: a user token manages the spaces of its own user and sees no others', async () => {
      const [owner, other] = [await ownerOf(), await ownerOf()];
      const { token } = await mintToken(service.api, tenant.key, owner.id, ['files:read', 'users:read']);
      const theirs = await spaceOf(other);
      const fields = { external_id: unique('s'), name: 's', scopes: ['files:read'] };
      const made = await service.api.post(`${owner.path}/spaces`, token, fields);
      expect(made.status, made.text).toBe(201);
      const at = `${owner.path}/spaces/${made.body.space.id}`;
      expect((await service.api.put(at, token, { name: 'new' })).status).toBe(200);
      expect((await service.api.put(`${at}/credentials`, token, { password })).status).toBe(204);
      expect((await service.api.get(`${other.path}/spaces`, token)).status).toBe(404);
      expect((await service.api.get(theirs.at, token)).status).toBe(404);
      expect((await service.api.delete(`${owner.path}/spaces/${theirs.id}`, token)).status).toBe(404);
      expect((await service.api.delete(at, token)).status).toBe(204);
    });

    test('spaces: a user token cannot grant a space scopes that it does not hold', async () => {
      const owner = await ownerOf();
      const { token } = await mintToken(service.api, tenant.key, owner.id, ['files:read']);
      const excess = { external_id: unique('s'), name: 's', scopes: ['files:read', 'files:write'] };
      const refused = await service.api.post(`${owner.path}/spaces`, token, excess);
      expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
      expect(refused.body.error.message).toContain('files:write');
      const space = await spaceOf(owner, { scopes: ['files:read'] });
      expect((await service.api.put(space.at, token, { scopes: ['files:delete'] })).status).toBe(403);
      expect((await service.api.get(space.at, token)).body.space.scopes).toEqual(['files:read']);
    });

    test('spaces: a token cannot grant a scope that its integration has lost', async () => {
      const owner = await ownerOf();
      const scopes = ['users:read', 'files:read', 'files:write'];
      const integration = await createIntegration(service.api, tenant.key, { name: 'i', scopes });
      const { token } = await mintToken(service.api, integration.key, owner.id);
      await service.api.put(`/project/integrations/${integration.id}`, tenant.key, {
        scopes: ['users:read', 'files:read'],
      });
      const fields = { external_id: unique('s'), name: 's', scopes: ['files:write'] };
      expect((await service.api.post(`${owner.path}/spaces`, token, fields)).status).toBe(403);
    });

    test('spaces: every management route refuses integration keys and space tokens', async () => {
      const space = await spaceOf();
      const scopes = ['users:read', 'users:write', 'spaces:login', ...allFiles];
      const integration = await createIntegration(service.api, tenant.key, { name: 'i', scopes });
      const { token } = await tokenOf(space);
      const list = `${space.owner.path}/spaces`;
      const fields = { external_id: unique('s'), name: 's' };
      for (const as of [integration.key, token]) {
        const replies = [
          await service.api.get(list, as),
          await service.api.post(list, as, fields),
          await service.api.get(space.at, as),
          await service.api.put(space.at, as, { name: 'x' }),
          await service.api.put(`${space.at}/credentials`, as, { password: 'other' }),
          await service.api.delete(space.at, as),
        ];
        expect(replies.map((reply) => reply.status)).toEqual(Array(6).fill(403));
      }
    });

    test('spaces: the spaces of another tenant are 404', async () => {
      const space = await spaceOf();
      const other = await createTenant(service.api, admin);
      const elsewhere = await ownerOf(other.key);
      for (const at of [space.at, `${elsewhere.path}/spaces/${space.id}`]) {
        expect((await service.api.get(at, other.key)).status).toBe(404);
        expect((await service.api.put(at, other.key, { active: false })).status).toBe(404);
        expect((await service.api.delete(at, other.key)).status).toBe(404);
      }
      expect((await logIn(space.externalId, password, other.key)).status).toBe(401);
    });
  });

  describe('login', () => {
    test('spaces.login: the 201 reply names the owner, the scopes and the expiry of the token', async () => {
      const space = await spaceOf();
      const before = Date.now();
      const reply = await logIn(space.externalId);
      expect(reply.status, reply.text).toBe(201);
      expect(reply.body).toMatchObject({ space_id: space.id, user_id: space.owner.id, scopes: allFiles });
      const lasting = Date.parse(reply.body.expires_at) - before;
      expect(lasting).toBeGreaterThan(86_390_000);
      expect(lasting).toBeLessThan(86_460_000);
      const claims = JSON.parse(Buffer.from(reply.body.token.split('.')[1], 'base64url').toString());
      expect(claims).toMatchObject({
        role: 'space',
        sub: space.id,
        jti: reply.body.jti,
        uid: space.owner.id,
      });
    });

    test('spaces.login: an integration with only spaces:login can log in a space that has more scopes', async () => {
      const space = await spaceOf();
      const worker = await createIntegration(service.api, tenant.key, {
        name: 'w',
        scopes: ['spaces:login'],
      });
      const reader = await createIntegration(service.api, tenant.key, { name: 'r', scopes: ['files:read'] });
      const reply = await logIn(space.externalId, password, worker.key);
      expect(reply.body.scopes).toEqual(allFiles);
      expect((await put(space.owner, reply.body.token)).status).toBe(201);
      expect((await logIn(space.externalId, password, reader.key)).status).toBe(403);
      expect((await logIn(space.externalId, password, reply.body.token)).status).toBe(403);
      await service.api.delete(`/project/integrations/${worker.id}`, tenant.key);
      expect(await statusWith(space, reply.body.token)).toBe(401);
    });

    test('spaces.login: a wrong password, an unknown space and a space without a password get the same 401', async () => {
      const space = await spaceOf();
      const { externalId: bare } = await spaceOf(null, { password: undefined });
      const replies = [
        await logIn(space.externalId, 'wrong'),
        await logIn(unique('nobody')),
        await logIn(bare),
        await logIn(space.externalId, `${password} `),
        await logIn(space.externalId, 'x'.repeat(256)),
      ];
      expect(replies.map((reply) => reply.status)).toEqual(Array(5).fill(401));
      expect(new Set(replies.map((reply) => reply.text)).size).toBe(1);
    });

    test('spaces.login: an inactive space or user is 403 with the right password and 401 with a wrong one', async () => {
      const [space, other] = [await spaceOf(), await spaceOf()];
      await service.api.put(space.at, tenant.key, { active: false });
      await service.api.put(other.owner.path, tenant.key, { active: false });
      for (const one of [space, other]) {
        expect((await logIn(one.externalId)).status).toBe(403);
        expect((await logIn(one.externalId, 'wrong')).status).toBe(401);
      }
    });

    test('spaces.login: ten failures lock the space for every caller until the window ends', async () => {
      const [space, neighbour] = [await spaceOf(), await spaceOf()];
      for (let nth = 0; nth < 10; nth += 1) expect((await logIn(space.externalId, 'wrong')).status).toBe(401);
      const refused = await logIn(space.externalId);
      expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
      const wait = Number(refused.headers['retry-after']);
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(900);
      expect((await logIn(neighbour.externalId)).status).toBe(201);
      service.advance((wait + 1) * 1000);
      expect((await logIn(space.externalId)).status).toBe(201);
      service.advance(-(wait + 1) * 1000);
    });

    test('spaces.login: a new password unlocks the space at once, and the failed attempts are audited', async () => {
      const space = await spaceOf();
      for (let nth = 0; nth < 11; nth += 1) await logIn(space.externalId, 'wrong');
      expect((await logIn(space.externalId)).status).toBe(429);
      await service.api.put(`${space.at}/credentials`, tenant.key, { password: 'the next one' });
      expect((await logIn(space.externalId, 'the next one')).status).toBe(201);
      const { body } = await service.api.get(
        `/project/audit?action=auth.login_failed&user_id=${space.owner.id}`,
        tenant.key,
      );
      expect(body.logs, 'attempts that were judged').toHaveLength(10);
      expect(body.logs[0]).toMatchObject({
        resource_type: 'space',
        resource_id: space.id,
        metadata: { external_id: space.externalId },
      });
    });

    test('spaces.login: a successful login resets the failure count', async () => {
      const space = await spaceOf();
      for (let round = 0; round < 2; round += 1) {
        for (let nth = 0; nth < 9; nth += 1)
          expect((await logIn(space.externalId, 'wrong')).status).toBe(401);
        expect((await logIn(space.externalId)).status).toBe(201);
      }
    });
  });

  describe('sessions', () => {
    test('spaces.login: a new login ends the previous session at once; of 25 concurrent logins, one session stays valid', async () => {
      const space = await spaceOf();
      const [first, second] = [await tokenOf(space), await tokenOf(space)];
      expect(await statusWith(space, first.token)).toBe(401);
      expect(await statusWith(space, second.token)).toBe(200);
      const many = await Promise.all(Array.from({ length: 25 }, () => tokenOf(space)));
      const alive = await Promise.all(many.map(({ token }) => statusWith(space, token)));
      expect(alive.filter((status) => status === 200)).toHaveLength(1);
      expect(alive.filter((status) => status === 401)).toHaveLength(24);
    });

    test.each<[string, (space: Space, jti: string) => Promise<unknown>]>([
      ['deactivating the space', (space) => service.api.put(space.at, tenant.key, { active: false })],
      ['deleting the space', (space) => service.api.delete(space.at, tenant.key)],
      [
        'rotating its password',
        (space) => service.api.put(`${space.at}/credentials`, tenant.key, { password: 'next' }),
      ],
      [
        'revoking the token',
        (_space, jti) => service.api.post('/project/spaces/token/revoke', tenant.key, { jti }),
      ],
      ['deactivating the owner', (space) => service.api.put(space.owner.path, tenant.key, { active: false })],
      ['deleting the owner', (space) => service.api.delete(space.owner.path, tenant.key)],
    ])('spaces: %s ends the live session at once, on every instance', async (_what, act) => {
      const another = await service.another();
      try {
        const space = await spaceOf();
        const { token, jti } = await tokenOf(space);
        const ask = (on: PakhusOnStore | typeof another) => on.api.get(`${space.owner.path}/files`, token);
        expect([(await ask(service)).status, (await ask(another)).status]).toEqual([200, 200]);
        await act(space, jti);
        expect([(await ask(service)).status, (await ask(another)).status]).toEqual([401, 401]);
        expect((await put(space.owner, token)).status).toBe(401);
      } finally {
        await another.stop();
      }
    });

    test('spaces: a session ended by deactivating the space stays ended after it is active again', async () => {
      const space = await spaceOf();
      const { token } = await tokenOf(space);
      await service.api.put(space.at, tenant.key, { active: false });
      await service.api.put(space.at, tenant.key, { active: true });
      expect(await statusWith(space, token)).toBe(401);
      await service.api.put(`${space.at}/credentials`, tenant.key, { password: 'rotated' });
      expect((await logIn(space.externalId)).status).toBe(401);
      expect((await logIn(space.externalId, 'rotated')).status).toBe(201);
    });

    test('spaces.setCredentials: a user token cannot set a password for a space that has more scopes than the token', async () => {
      const space = await spaceOf();
      const set = async (scopes: string[]) => {
        const minted = await service.api.post(`${space.owner.path}/tokens`, tenant.key, { scopes });
        return service.api.put(`${space.at}/credentials`, minted.body.token, { password: 'mine' });
      };
      const refused = await set(['files:read']);
      expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
      expect((await logIn(space.externalId, 'mine')).status).toBe(401);
      expect((await set(allFiles)).status).toBe(204);
      expect((await logIn(space.externalId, 'mine')).status).toBe(201);
    });

    test('spaces.update: a user token cannot remove scopes that it does not hold', async () => {
      const space = await spaceOf();
      const { token } = await mintToken(service.api, tenant.key, space.owner.id, ['files:read']);
      for (const scopes of [[], ['files:read']]) {
        const refused = await service.api.put(space.at, token, { scopes });
        expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
        expect(refused.body.error.message).toBe(
          'You can only grant scopes you hold; missing: files:write, files:delete',
        );
      }
      expect((await service.api.put(space.at, token, { name: 'renamed' })).status).toBe(200);
      expect((await service.api.get(space.at, tenant.key)).body.space.scopes).toEqual(allFiles);
      const equal = await mintToken(service.api, tenant.key, space.owner.id, allFiles);
      expect((await service.api.put(space.at, equal.token, { scopes: ['files:read'] })).status).toBe(200);
    });

    const lesserWays: [string, (space: Space, token: string) => Promise<unknown>][] = [
      [
        'in a space without scopes',
        (space, token) => service.api.put(`${space.at}/credentials`, token, { password }),
      ],
      [
        'in a space that it created in place of another',
        async (space, token) => {
          await service.api.delete(space.at, token);
          const fields = { external_id: space.externalId, name: 'mine', scopes: [], password };
          const made = await service.api.post(`${space.owner.path}/spaces`, token, fields);
          expect(made.status, made.text).toBe(201);
        },
      ],
    ];
    test.each(lesserWays)(
      'spaces.update: wider scopes clear a password set by a credential without them (%s) and end the session',
      async (_name, setPassword) => {
        const owner = await ownerOf();
        const { externalId, ...first } = await spaceOf(owner, { scopes: [] });
        const { token } = await mintToken(service.api, tenant.key, owner.id, ['files:read']);
        await setPassword({ ...first, externalId }, token);
        const [{ id }] = (await service.api.get(`${owner.path}/spaces`, tenant.key)).body.spaces;
        const space = { id, externalId, owner, at: `${owner.path}/spaces/${id}` };
        const live = await tokenOf(space);
        const within = await service.api.put(space.at, tenant.key, { scopes: ['files:read'] });
        expect(within.body.space).toMatchObject({ scopes: ['files:read'], has_password: true });
        expect(await statusWith(space, live.token)).toBe(200);

        const wider = await service.api.put(space.at, tenant.key, { scopes: allFiles });
        expect(wider.body.space).toMatchObject({ scopes: allFiles, has_password: false });
        expect(await statusWith(space, live.token)).toBe(401);
        expect((await logIn(externalId)).status).toBe(401);
        const audit = await service.api.get('/project/audit?action=space.update&limit=1', tenant.key);
        expect(audit.body.logs[0]).toMatchObject({
          resource_id: id,
          metadata: { old: { has_password: true }, new: { has_password: false, scopes: allFiles } },
        });

        const again = await service.api.put(`${space.at}/credentials`, tenant.key, { password: 'another' });
        expect(again.status).toBe(204);
        expect((await service.api.get(space.at, tenant.key)).body.space.has_password).toBe(true);
        expect((await logIn(externalId, 'another')).status).toBe(201);
      },
    );

    test('spaces.update: a password set by the owner survives every change of scopes', async () => {
      const space = await spaceOf();
      const { token } = await tokenOf(space);
      for (const scopes of [[], ['files:read'], allFiles]) {
        const changed = await service.api.put(space.at, tenant.key, { scopes });
        expect(changed.body.space).toMatchObject({ scopes, has_password: true });
      }
      expect(await statusWith(space, token)).toBe(200);
    });

    test('spaces.update: a password set before its scopes were recorded is cleared when the scopes become wider', async () => {
      const space = await spaceOf(null, { scopes: ['files:read'] });
      await rowsOf(
        service.databaseUrl,
        `update spaces set password_scopes = scopes where id = '${space.id}'`,
      );
      const same = await service.api.put(space.at, tenant.key, { scopes: ['files:read'] });
      expect(same.body.space.has_password).toBe(true);
      const wider = await service.api.put(space.at, tenant.key, { scopes: allFiles });
      expect(wider.body.space.has_password).toBe(false);
    });

    test('spaces.revokeToken: 204 for any jti, but only the project that owns a session can end it', async () => {
      const space = await spaceOf();
      const { token, jti } = await tokenOf(space);
      const other = await createTenant(service.api, admin);
      const revoke = (as: string, body: object) => service.api.post('/project/spaces/token/revoke', as, body);
      expect((await revoke(other.key, { jti })).status).toBe(204);
      expect((await revoke(tenant.key, { jti: '00000000-0000-4000-8000-000000000000' })).status).toBe(204);
      expect(await statusWith(space, token)).toBe(200);
      expect((await revoke(tenant.key, { jti: 'x' })).status).toBe(422);
      expect((await revoke(token, { jti })).status).toBe(403);
      const userToken = async (userPath: string) =>
        (await service.api.post(`${userPath}/tokens`, tenant.key, { scopes: [] })).body.token;
      const stranger = await spaceOf();
      expect((await revoke(await userToken(stranger.owner.path), { jti })).status).toBe(204);
      expect(await statusWith(space, token)).toBe(200);
      const again = await tokenOf(stranger);
      expect((await revoke(await userToken(stranger.owner.path), { jti: again.jti })).status).toBe(204);
      expect(await statusWith(stranger, again.token)).toBe(401);
      const worker = await createIntegration(service.api, tenant.key, {
        name: 'w',
        scopes: ['spaces:login'],
      });
      expect((await revoke(worker.key, { jti })).status).toBe(204);
      expect(await statusWith(space, token)).toBe(401);
    });

    test('spaces.update: a change of scopes applies to the live token from its next request', async () => {
      const space = await spaceOf();
      const { token } = await tokenOf(space);
      expect((await put(space.owner, token)).status).toBe(201);
      await service.api.put(space.at, tenant.key, { scopes: ['files:read'] });
      expect((await put(space.owner, token)).status).toBe(403);
      expect(await statusWith(space, token)).toBe(200);
    });

    test('spaces: a token expires at the end of its time to live', async () => {
      const space = await spaceOf();
      const { token } = await tokenOf(space);
      service.advance(86_401_000);
      expect(await statusWith(space, token)).toBe(401);
      service.advance(-86_401_000);
    });
  });

  describe('confinement', () => {
    test('files: a space token sees, changes and deletes only files of its own space', async () => {
      const mine = await spaceOf();
      const other = await spaceOf(mine.owner);
      const { token } = await tokenOf(mine);
      const files = {
        owner: (await put(mine.owner, tenant.key, { name: 'owner' })).body.file,
        mine: (await put(mine.owner, tenant.key, { name: 'mine', meta: { space_id: mine.id } })).body.file,
        other: (await put(mine.owner, tenant.key, { name: 'other', meta: { space_id: other.id } })).body.file,
      };
      const { path } = mine.owner;
      const listed = async (query = '') =>
        (await service.api.get(`${path}/files${query}`, token)).body.files.map(
          (file: { name: string }) => file.name,
        );
      expect(await listed()).toEqual(['mine']);
      expect(await listed(`?space_id=${mine.id}`)).toEqual(['mine']);
      expect(await listed(`?space_id=${other.id}`)).toEqual(['mine']);
      expect(await listed('?space_id=none')).toEqual(['mine']);
      for (const file of [files.owner, files.other]) {
        const at = `${path}/files/${file.id}`;
        expect((await service.api.get(at, token)).status).toBe(404);
        expect((await service.api.put(at, token, { folder: 'x' })).status).toBe(404);
        expect((await service.api.delete(at, token)).status).toBe(404);
      }
      const at = `${path}/files/${files.mine.id}`;
      expect((await service.api.get(at, token)).status).toBe(200);
      expect((await service.api.put(at, token, { folder: 'x' })).body.file.folder).toBe('x');
      expect((await service.api.delete(at, token)).status).toBe(204);
      expect((await service.api.get(mine.at, tenant.key)).body.space.used_bytes).toBe(0);
    });

    test('files.upload: an upload with a space token belongs to that space on both routes, whatever the form says', async () => {
      const mine = await spaceOf();
      const other = await spaceOf(mine.owner);
      const { token } = await tokenOf(mine);
      const twin = { ...mine.owner, path: `/project/users/ext/${mine.owner.externalId}` };
      for (const owner of [mine.owner, twin])
        expect((await put(owner, token)).body.file.space_id).toBe(mine.id);
      for (const said of [mine.id, other.id, randomUUID(), null]) {
        const stored = await put(mine.owner, token, { meta: { space_id: said } });
        expect([stored.status, stored.body.file.space_id], `${said}`).toEqual([201, mine.id]);
      }
      expect((await service.api.get(other.at, tenant.key)).body.space.used_bytes).toBe(0);
    });

    test('files: a space token gets 404 for another user, and cannot use collections', async () => {
      const space = await spaceOf();
      const { token } = await tokenOf(space);
      const other = await ownerOf();
      expect((await service.api.get(`${other.path}/files`, token)).status).toBe(404);
      expect((await put(other, token)).status).toBe(404);
      expect((await service.api.get(`/project/users/ext/${other.externalId}/files`, token)).status).toBe(404);
      expect((await service.api.get('/project/users', token)).status).toBe(403);
      expect((await service.api.get('/project/plans', token)).status).toBe(403);
      expect((await service.api.post(`${space.owner.path}/tokens`, token, {})).status).toBe(403);
    });

    test('files: a project session sees the files of every space', async () => {
      const space = await spaceOf();
      const { token } = await tokenOf(space);
      const { file } = (await put(space.owner, token)).body;
      const session = await sessionOf(service.api, tenant.email, tenant.password);
      const read = await service.api.get(`${space.owner.path}/files/${file.id}`, session);
      expect(read.body.file.space_id).toBe(space.id);
    });
  });

  describe('storage', () => {
    test("spaces.delete: the files stay with the owner, readable, and the owner's usage does not change", async () => {
      const own = await createTenant(service.api, admin);
      const space = await spaceOf(null, {}, own.key);
      const { path } = space.owner;
      const made = await Promise.all(
        [100, 400 << 10].map((size) =>
          put(space.owner, own.key, { meta: { space_id: space.id } }, bytesOf(size)),
        ),
      );
      const before = (await service.api.get(`${path}/storage`, own.key)).body;
      expect((await service.api.delete(space.at, own.key)).status).toBe(204);
      for (const { body } of made) {
        const { file } = (await service.api.get(`${path}/files/${body.file.id}`, own.key)).body;
        expect(file.space_id).toBeNull();
        expect((await (await fetch(file.url)).arrayBuffer()).byteLength).toBe(file.size);
      }
      expect((await service.api.get(`${path}/storage`, own.key)).body).toEqual(before);
      await expectBalanced(service, own.id);
      expect((await service.api.delete(`${path}/files/${made[0]?.body.file.id}`, own.key)).status).toBe(204);
      expect((await service.api.get(`${path}/storage`, own.key)).body.storageUsed).toBe(400 << 10);
    });

    test('spaces: limit_bytes bounds the total size of the files for every caller, and can be raised and lowered', async () => {
      const space = await spaceOf(null, { limit_bytes: 100 });
      const { token } = await tokenOf(space);
      const meta = { space_id: space.id };
      for (let nth = 0; nth < 10; nth += 1) expect((await put(space.owner, token)).status).toBe(201);
      for (const [as, options] of [
        [token, {}],
        [tenant.key, { meta }],
      ] as const) {
        const refused = await put(space.owner, as, options, bytesOf(1));
        expect([refused.status, refused.body.error.code]).toEqual([422, 'STORAGE_LIMIT_EXCEEDED']);
        expect(refused.body.error.details.limit).toBe('limit_bytes');
      }
      expect((await put(space.owner, token, {}, bytesOf(0))).status).toBe(201);
      expect((await put(space.owner, tenant.key)).status).toBe(201);
      await service.api.put(space.at, tenant.key, { limit_bytes: 101 });
      expect((await put(space.owner, token, {}, bytesOf(1))).status).toBe(201);
      const lowered = await service.api.put(space.at, tenant.key, { limit_bytes: 5 });
      expect(lowered.body.space).toMatchObject({ limit_bytes: 5, used_bytes: 101 });
      expect((await put(space.owner, token, {}, bytesOf(1))).status).toBe(422);
      await service.api.put(space.at, tenant.key, { limit_bytes: null });
      expect((await put(space.owner, token)).status).toBe(201);
      const [row] = await rowsOf<{ sum: string }>(
        service.databaseUrl,
        `select sum(size) as sum from files where space_id = '${space.id}'`,
      );
      const { used_bytes } = (await service.api.get(space.at, tenant.key)).body.space;
      expect(used_bytes).toBe(Number(row?.sum));
    });
  });
}
