// Generated from the routes of the server by `npm run types`. Do not edit.
export type paths = {
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Health of the service */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @enum {string} */
                            status: "ok" | "degraded";
                            checks: {
                                /** @enum {string} */
                                database: "ok" | "unavailable" | "not configured";
                                /** @enum {string} */
                                storage: "ok" | "unavailable" | "not configured";
                                /** @enum {string} */
                                redis: "ok" | "unavailable" | "not configured";
                            };
                            version: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Log in as admin or project */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        email: string;
                        /**
                         * Format: password
                         * @description At most 256 bytes in UTF-8.
                         */
                        password: string;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description Also set as the HttpOnly cookie `token`. */
                            token: string;
                        } | {
                            /** @constant */
                            two_factor_required: true;
                            /** @description Valid for five minutes and five attempts, only for `POST /auth/2fa/login`. */
                            challenge_token: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End this session */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout-everywhere": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End all sessions of the account */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the current session */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            session: components["schemas"]["Session"];
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/change-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Change your password */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /**
                         * Format: password
                         * @description At most 256 bytes in UTF-8.
                         */
                        currentPassword: string;
                        /**
                         * Format: password
                         * @description At most 256 bytes in UTF-8.
                         */
                        newPassword: string;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            ok: true;
                        };
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/forgot-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Request a password-reset link */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        email: string;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            ok: true;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/reset-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Set a new password with a reset token */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description The `token` parameter of the link. */
                        token: string;
                        /**
                         * Format: password
                         * @description At most 256 bytes in UTF-8.
                         */
                        newPassword: string;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            ok: true;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/2fa/enroll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Enroll in two-factor login */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description Show it as a QR code for an authenticator app. */
                            otpauth_url: string;
                            /** @description The same secret in base32, for typing. Shown only once. */
                            secret: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/2fa/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Activate two-factor login */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description The code that the authenticator shows. */
                        code: string;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description Each one replaces a code once. Shown only once. */
                            recovery_codes: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/2fa/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Disable two-factor login */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description The code that the authenticator shows, or a recovery code. */
                        code: string;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @constant */
                            ok: true;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/2fa/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether two-factor login is on */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            enabled: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/2fa/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Complete a login with a code */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description Valid for five minutes and five attempts, only for `POST /auth/2fa/login`. */
                        challenge_token: string;
                        /** @description The code that the authenticator shows, or a recovery code. */
                        code: string;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description Also set as the HttpOnly cookie `token`. */
                            token: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List projects */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            projects: components["schemas"]["Project"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Create a project with its account and first key */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name: string;
                        /** Format: email */
                        email: string;
                        /**
                         * Format: password
                         * @description At most 256 bytes in UTF-8.
                         */
                        password: string;
                    };
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            project: components["schemas"]["Project"];
                            /** @description Shown only this once: the service keeps a hash. */
                            api_key: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/projects/{projectId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a project */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    projectId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            project: components["schemas"]["Project"];
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Delete a project with everything in it */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    projectId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        /** Change name, e-mail or rate tier of a project */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    projectId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        name?: string;
                        /** Format: email */
                        email?: string;
                        /** @description Requests per window. If not set, the value of the next level applies. */
                        rateLimitMax?: number | null;
                        /** @description Length of the window in milliseconds. If not set, the value of the next level applies. */
                        rateLimitWindow?: number | null;
                    } | unknown | unknown | unknown | unknown;
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            project: components["schemas"]["Project"];
                        };
                    };
                };
            };
        };
        trace?: never;
    };
    "/admin/projects/{projectId}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Activate or deactivate a project */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    projectId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        active: boolean;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            project: components["schemas"]["Project"];
                        };
                    };
                };
            };
        };
        trace?: never;
    };
    "/admin/projects/{projectId}/rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replace all keys of a project with one new key */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path: {
                    projectId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            project: components["schemas"]["Project"];
                            /** @description Shown only this once: the service keeps a hash. */
                            api_key: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/settings/audit-retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the audit retention */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditRetention"];
                    };
                };
            };
        };
        /** Set the audit retention */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AuditRetention"];
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AuditRetention"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/settings/rate-limit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the default rate limit of integrations */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RateLimit"];
                    };
                };
            };
        };
        /** Set the default rate limit of integrations */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RateLimit"];
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RateLimit"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the audit log */
        get: {
            parameters: {
                query?: {
                    project_id?: string;
                    action?: components["schemas"]["AuditAction"];
                    user_id?: string;
                    actor_type?: components["schemas"]["ActorType"];
                    from?: string;
                    to?: string;
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            logs: components["schemas"]["AuditEntry"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the project's own audit log */
        get: {
            parameters: {
                query?: {
                    action?: components["schemas"]["AuditAction"];
                    user_id?: string;
                    actor_type?: components["schemas"]["ActorType"];
                    from?: string;
                    to?: string;
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            logs: components["schemas"]["AuditEntry"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List project keys */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            keys: components["schemas"]["ApiKey"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Create a project key */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        name?: string | null;
                    };
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            key: components["schemas"]["ApiKey"];
                            /** @description Shown only this once: the service keeps a hash. */
                            api_key: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deactivate a project key */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    keyId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/integrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List integrations */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            integrations: components["schemas"]["Integration"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Create an integration */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NewIntegration"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            integration: components["schemas"]["Integration"];
                            /** @description Shown only this once: the service keeps a hash. */
                            api_key: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/integrations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an integration */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            integration: components["schemas"]["Integration"];
                        };
                    };
                };
            };
        };
        /** Change an integration */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["IntegrationChange"];
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            integration: components["schemas"]["Integration"];
                        };
                    };
                };
            };
        };
        post?: never;
        /** Delete an integration */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/integrations/{id}/rotate-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replace the key of an integration */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            integration: components["schemas"]["Integration"];
                            /** @description Shown only this once: the service keeps a hash. */
                            api_key: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List plans */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            plans: components["schemas"]["Plan"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Create a plan */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewPlan"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            plan: components["schemas"]["Plan"];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/plans/{planId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a plan */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    planId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            plan: components["schemas"]["Plan"];
                        };
                    };
                };
            };
        };
        /** Change a plan */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    planId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["PlanChange"];
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            plan: components["schemas"]["Plan"];
                        };
                    };
                };
            };
        };
        post?: never;
        /** Delete a plan */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    planId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/plans/{planId}/default": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Make a plan the default */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    planId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            plan: components["schemas"]["Plan"];
                        };
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List users with plan and quota */
        get: {
            parameters: {
                query?: {
                    q?: string;
                    usage_min?: number;
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            users: components["schemas"]["User"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Create a user */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description Your own id for it. */
                        externalId: string;
                        /** Format: uuid */
                        planId?: string | null;
                    };
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            user: components["schemas"]["User"];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a user */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            user: components["schemas"]["User"];
                        };
                    };
                };
            };
        };
        /** Activate or deactivate a user */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        active?: boolean;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            user: components["schemas"]["User"];
                        };
                    };
                };
            };
        };
        post?: never;
        /** Delete a user with its spaces, files and tokens */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Assign a plan to a user */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** Format: uuid */
                        planId: string;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            user: components["schemas"]["User"];
                        };
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the storage of a user */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["StorageSnapshot"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Mint a token for one user */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @description Scopes; repeated ones count once. */
                        scopes?: components["schemas"]["Scope"][];
                    };
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UserToken"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/tokens/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Revoke a token of one user */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** Format: uuid */
                        jti: string;
                    };
                };
            };
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/spaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the spaces of a user */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            spaces: components["schemas"]["Space"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Create a space */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewSpace"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            space: components["schemas"]["Space"];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/spaces/{spaceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a space */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    spaceId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            space: components["schemas"]["Space"];
                        };
                    };
                };
            };
        };
        /** Change a space */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    spaceId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SpaceChange"];
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            space: components["schemas"]["Space"];
                        };
                    };
                };
            };
        };
        post?: never;
        /** Delete a space */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    spaceId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/spaces/{spaceId}/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Set or rotate the password of a space */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    spaceId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /**
                         * Format: password
                         * @description At most 256 bytes in UTF-8.
                         */
                        password: string;
                    };
                };
            };
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/spaces/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange the credentials of a space for a token */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description Your own id for it. */
                        external_id: string;
                        /**
                         * Format: password
                         * @description At most 256 bytes in UTF-8.
                         */
                        password: string;
                    };
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SpaceToken"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/spaces/token/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End the session of a space */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** Format: uuid */
                        jti: string;
                    };
                };
            };
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a user's files */
        get: {
            parameters: {
                query?: {
                    folder?: string;
                    tags?: string[];
                    classifier?: string;
                    mime_type?: string;
                    visibility?: components["schemas"]["Visibility"];
                    space_id?: string;
                    q?: string;
                    created_from?: string;
                    created_to?: string;
                    size_min?: number;
                    size_max?: number;
                    sha256?: string;
                    sort?: "name" | "size" | "created_at";
                    order?: "asc" | "desc";
                    trashed?: boolean;
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            files: components["schemas"]["ListedFile"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Upload a file */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Content-Digest"?: string;
                    "Idempotency-Key"?: string;
                };
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "multipart/form-data": {
                        /** Format: binary */
                        file: string;
                        /** @description The fields below as one JSON object. A field that is also sent separately overrides the one in here. */
                        meta?: string;
                        /** @description A path such as a/b/c; the empty string is the root. Leading and trailing slashes are removed. Segments must not be empty, `.` or `..`, and must not contain control characters. */
                        folder?: string | null;
                        /** @description Tags are trimmed, and duplicates are removed. To filter by a tag that contains a comma, send a JSON array. */
                        tags?: string[] | null;
                        classifier?: string | null;
                        /** @description Any JSON object of at most 16 KiB (numbers counted without exponents) and 32 levels. The name `__proto__` is not allowed. Numbers are doubles, as in JavaScript: send integers above 9007199254740991 as strings. */
                        metadata?: {
                            [key: string]: unknown;
                        } | null;
                        visibility?: components["schemas"]["Visibility"];
                        /** @description When the file is deleted, or goes to the trash if the project keeps one: a time to come, or empty. */
                        expires_at?: string;
                        /** @description Until then the file cannot be deleted: a time to come, or empty. Only the project owner may set it. */
                        retain_until?: string;
                        /** @description The space to store the file in. Absent or empty: outside of spaces. */
                        space_id?: string;
                        /** @description SHA-256 of the file, in hex, or empty. If it does not match, the upload is refused. */
                        sha256?: string;
                    };
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            file: components["schemas"]["FileDetail"];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files/folders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List one level of the folder tree */
        get: {
            parameters: {
                query?: {
                    prefix?: string;
                    space_id?: string;
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            prefix: string;
                            folders: string[];
                            files: components["schemas"]["StoredFile"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files/{fileId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a file and get a URL to download it */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    fileId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            file: components["schemas"]["FileDetail"];
                        };
                    };
                };
            };
        };
        /** Change the metadata of a file */
        put: {
            parameters: {
                query?: never;
                header?: {
                    "If-Match"?: string;
                };
                path: {
                    userId: string;
                    fileId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["FileChange"];
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            file: components["schemas"]["StoredFile"];
                        };
                    };
                };
            };
        };
        post?: never;
        /** Delete a file */
        delete: {
            parameters: {
                query?: {
                    permanent?: boolean;
                };
                header?: {
                    "If-Match"?: string;
                };
                path: {
                    userId: string;
                    fileId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change, delete, restore or copy many files */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        ids: string[];
                        /** @enum {string} */
                        action: "update" | "delete" | "restore" | "copy";
                        set?: {
                            /** @description A path such as a/b/c; the empty string is the root. Leading and trailing slashes are removed. Segments must not be empty, `.` or `..`, and must not contain control characters. */
                            folder?: string | null;
                            /** @description Tags are trimmed, and duplicates are removed. To filter by a tag that contains a comma, send a JSON array. */
                            tags?: string[] | null;
                            classifier?: string | null;
                            /** @description Any JSON object of at most 16 KiB (numbers counted without exponents) and 32 levels. The name `__proto__` is not allowed. Numbers are doubles, as in JavaScript: send integers above 9007199254740991 as strings. */
                            metadata?: {
                                [key: string]: unknown;
                            } | null;
                            visibility?: components["schemas"]["Visibility"];
                            /** @description When the file is deleted, or goes to the trash if the project keeps one; null: never. A time to come. A date, or a date and time; UTC unless it has an offset. */
                            expires_at?: string | null;
                            /** @description Until then the file cannot be deleted, and neither can its user or project; its metadata can change. Only the project owner may set it, and only to a later time than before. A date, or a date and time; UTC unless it has an offset. */
                            retain_until?: string | null;
                            /** Format: uuid */
                            space_id?: string | null;
                        };
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description In the order of `ids`, the copies after `copy`. */
                            files?: components["schemas"]["StoredFile"][];
                            /** @description The ids, after `delete`. */
                            deleted?: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/folders/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move or rename a folder */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description A path such as a/b/c; the empty string is the root. Leading and trailing slashes are removed. Segments must not be empty, `.` or `..`, and must not contain control characters. */
                        from: string;
                        /** @description A path such as a/b/c; the empty string is the root. Leading and trailing slashes are removed. Segments must not be empty, `.` or `..`, and must not contain control characters. */
                        to: string;
                        /** @description The id of a space, or `none` for files outside of spaces. A space token always sees its own space only. */
                        space_id?: string;
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description How many files. */
                            files: number;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/folders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a folder */
        delete: {
            parameters: {
                query?: {
                    prefix?: string;
                    space_id?: string;
                    permanent?: boolean;
                };
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description How many files. */
                            files: number;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files/{fileId}/copy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Copy a file */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path: {
                    userId: string;
                    fileId: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": {
                        /** @description The name of the file. */
                        name?: string;
                        /** @description A path such as a/b/c; the empty string is the root. Leading and trailing slashes are removed. Segments must not be empty, `.` or `..`, and must not contain control characters. */
                        folder?: string | null;
                        /** Format: uuid */
                        space_id?: string | null;
                        visibility?: components["schemas"]["Visibility"];
                    };
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            file: components["schemas"]["FileDetail"];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the settings of the project */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            settings: components["schemas"]["ProjectSettings"];
                        };
                    };
                };
            };
        };
        /** Change the settings of the project */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ProjectSettings"];
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            settings: components["schemas"]["ProjectSettings"];
                        };
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files/{fileId}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a file back from the trash */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    fileId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            file: components["schemas"]["StoredFile"];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files/{fileId}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download the content of a file */
        get: {
            parameters: {
                query?: {
                    disposition?: "inline" | "attachment";
                    redirect?: boolean;
                    variant?: string;
                };
                header?: {
                    Range?: string;
                    "If-Match"?: string;
                    "If-None-Match"?: string;
                    "If-Modified-Since"?: string;
                    "If-Range"?: string;
                };
                path: {
                    userId: string;
                    fileId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "*/*": unknown;
                    };
                };
                /** @description With `variant`: the image is in the making, ask again after `Retry-After` */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PendingVariant"];
                    };
                };
                /** @description The requested ranges; several as `multipart/byteranges`, where each part has its `Content-Range` */
                206: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "*/*": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/objects/{projectId}/{fileId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download with a signed URL */
        get: {
            parameters: {
                query: {
                    expires: string;
                    type: string;
                    disposition: string;
                    signature: string;
                };
                header?: {
                    Range?: string;
                    "If-Match"?: string;
                    "If-None-Match"?: string;
                    "If-Range"?: string;
                };
                path: {
                    projectId: string;
                    fileId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "*/*": unknown;
                    };
                };
                /** @description The requested range */
                206: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "*/*": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the shares of all of a user's files */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            shares: components["schemas"]["Share"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files/{fileId}/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the shares of a file */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path: {
                    userId: string;
                    fileId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            shares: components["schemas"]["Share"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Share a file by a link */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path: {
                    userId: string;
                    fileId: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NewShare"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            share: components["schemas"]["Share"];
                            /** @description The link to send. Shown only this once. */
                            url: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files/{fileId}/shares/{shareId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a share */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    fileId: string;
                    shareId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            share: components["schemas"]["Share"];
                        };
                    };
                };
            };
        };
        /** Change a share */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    fileId: string;
                    shareId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ShareChange"];
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            share: components["schemas"]["Share"];
                        };
                    };
                };
            };
        };
        post?: never;
        /** Delete a share */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    fileId: string;
                    shareId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files/zip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download many files as one zip */
        get: {
            parameters: {
                query?: {
                    folder?: string;
                    ids?: string[];
                    space_id?: string;
                };
                header?: {
                    Range?: string;
                    "If-Match"?: string;
                    "If-None-Match"?: string;
                    "If-Modified-Since"?: string;
                    "If-Range"?: string;
                };
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/zip": unknown;
                    };
                };
                /** @description The requested ranges; several as `multipart/byteranges`, where each part has its `Content-Range` */
                206: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/zip": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List uploads */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            uploads: components["schemas"]["Upload"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Create an upload that survives a cut connection */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description The name of the file. */
                        name: string;
                        /** @description Of the file. It is reserved until the upload ends. */
                        size: number;
                        mimeType: string;
                        /**
                         * @description `resumable`: send the bytes to `url` by tus or by the IETF draft. `direct`: send parts straight to the object store.
                         * @enum {string}
                         */
                        mode?: "resumable" | "direct";
                        /** @description A path such as a/b/c; the empty string is the root. Leading and trailing slashes are removed. Segments must not be empty, `.` or `..`, and must not contain control characters. */
                        folder?: string | null;
                        /** @description Tags are trimmed, and duplicates are removed. To filter by a tag that contains a comma, send a JSON array. */
                        tags?: string[] | null;
                        classifier?: string | null;
                        /** @description Any JSON object of at most 16 KiB (numbers counted without exponents) and 32 levels. The name `__proto__` is not allowed. Numbers are doubles, as in JavaScript: send integers above 9007199254740991 as strings. */
                        metadata?: {
                            [key: string]: unknown;
                        } | null;
                        visibility?: components["schemas"]["Visibility"];
                        /** @description When the file is deleted, or goes to the trash if the project keeps one; null: never. A time to come. A date, or a date and time; UTC unless it has an offset. */
                        expires_at?: string | null;
                        /** @description Until then the file cannot be deleted, and neither can its user or project; its metadata can change. Only the project owner may set it, and only to a later time than before. A date, or a date and time; UTC unless it has an offset. */
                        retain_until?: string | null;
                        /** Format: uuid */
                        space_id?: string | null;
                        /** @description SHA-256 of the file, in hex. If it does not match, the upload is refused. */
                        sha256?: string;
                    };
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            upload: components["schemas"]["Upload"];
                            /** @description Where the first 20 parts of a direct upload go. Ask for the others when these are sent. A resumable upload has none. */
                            parts?: {
                                number: number;
                                url: string;
                                /** @description Bytes. */
                                size: number;
                                /** Format: date-time */
                                expires_at: string;
                            }[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/uploads/{uploadId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an upload */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    uploadId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            upload: components["schemas"]["Upload"];
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Cancel an upload */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    uploadId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/uploads/{uploadId}/parts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get URLs for parts of a direct upload */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    uploadId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description Parts are numbered from 1. */
                        numbers: number[];
                    };
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            parts: {
                                number: number;
                                url: string;
                                /** @description Bytes. */
                                size: number;
                                /** Format: date-time */
                                expires_at: string;
                            }[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/uploads/{uploadId}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Complete a direct upload */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    uploadId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description All parts, in order. */
                        parts: {
                            number: number;
                            etag: string;
                        }[];
                    };
                };
            };
            responses: {
                /** @description It was completed before */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            file: components["schemas"]["FileDetail"];
                        };
                    };
                };
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            file: components["schemas"]["FileDetail"];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/objects/{projectId}/{uploadId}/parts/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Send a part to a signed URL */
        put: {
            parameters: {
                query: {
                    expires: string;
                    size: string;
                    signature: string;
                };
                header?: never;
                path: {
                    projectId: string;
                    uploadId: string;
                    number: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "*/*": unknown;
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/uploads/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Cancel an upload by its URL */
        delete: {
            parameters: {
                query?: never;
                header?: {
                    "Tus-Resumable"?: "1.0.0";
                    "Upload-Draft-Interop-Version"?: string;
                };
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        /** Ask for the offset of an upload */
        head: {
            parameters: {
                query?: never;
                header?: {
                    "Tus-Resumable"?: "1.0.0";
                    "Upload-Draft-Interop-Version"?: string;
                };
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description The same, by the IETF draft */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        /** Send bytes of an upload */
        patch: {
            parameters: {
                query?: never;
                header: {
                    "Tus-Resumable"?: "1.0.0";
                    "Upload-Draft-Interop-Version"?: string;
                    "Upload-Offset": string;
                    "Content-Type": string;
                    "Upload-Checksum"?: string;
                    "Upload-Length"?: string;
                    "Upload-Complete"?: string;
                };
                path: {
                    token: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/offset+octet-stream": unknown;
                    "application/partial-upload": unknown;
                };
            };
            responses: {
                /** @description The same, by the IETF draft before version 8 */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        trace?: never;
    };
    "/project/users/{userId}/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Upload an image and have it compressed */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Content-Digest"?: string;
                    "Idempotency-Key"?: string;
                };
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "multipart/form-data": {
                        /** Format: binary */
                        image: string;
                        /** @description The fields below as one JSON object. A field that is also sent separately overrides the one in here. */
                        meta?: string;
                        preset?: components["schemas"]["ImagePreset"];
                        format?: components["schemas"]["ImageFormat"];
                        /** @description No effect on png, which is lossless. */
                        quality?: number;
                        width?: number;
                        height?: number;
                        /** @description A path such as a/b/c; the empty string is the root. Leading and trailing slashes are removed. Segments must not be empty, `.` or `..`, and must not contain control characters. */
                        folder?: string | null;
                        /** @description Tags are trimmed, and duplicates are removed. To filter by a tag that contains a comma, send a JSON array. */
                        tags?: string[] | null;
                        classifier?: string | null;
                        /** @description Any JSON object of at most 16 KiB (numbers counted without exponents) and 32 levels. The name `__proto__` is not allowed. Numbers are doubles, as in JavaScript: send integers above 9007199254740991 as strings. */
                        metadata?: {
                            [key: string]: unknown;
                        } | null;
                        visibility?: components["schemas"]["Visibility"];
                        /** @description When the file is deleted, or goes to the trash if the project keeps one: a time to come, or empty. */
                        expires_at?: string;
                        /** @description Until then the file cannot be deleted: a time to come, or empty. Only the project owner may set it. */
                        retain_until?: string;
                        /** @description The space to store the file in. Absent or empty: outside of spaces. */
                        space_id?: string;
                        /** @description SHA-256 of the file, in hex, or empty. If it does not match, the upload is refused. */
                        sha256?: string;
                    };
                };
            };
            responses: {
                /** @description Accepted */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** Format: uuid */
                            job_id: string;
                            /** Format: uuid */
                            file_id: string;
                            /** @enum {string} */
                            status: "pending";
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/jobs/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the status of an image job */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    jobId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Job"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/variants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List variants */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            variants: components["schemas"]["Variant"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Define a variant of images */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewVariant"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            variant: components["schemas"]["Variant"];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/variants/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a variant */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            variant: components["schemas"]["Variant"];
                        };
                    };
                };
            };
        };
        /** Change a variant */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["VariantChange"];
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            variant: components["schemas"]["Variant"];
                        };
                    };
                };
            };
        };
        post?: never;
        /** Delete a variant */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/files/{fileId}/variants/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the URL of an image of a file, by a variant */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                    fileId: string;
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["VariantImage"];
                    };
                };
                /** @description The image is in the making: ask again after `Retry-After` */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PendingVariant"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read what has changed */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    from?: "oldest";
                    types?: string;
                    limit?: number;
                    wait?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            events: components["schemas"]["Event"][];
                            /** @description Continues after this page, also after an empty one. */
                            next_cursor: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow what changes */
        get: {
            parameters: {
                query?: {
                    cursor?: string;
                    from?: "oldest";
                    types?: string;
                };
                header?: {
                    "Last-Event-ID"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/stats/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Traffic of today and of the last 30 days, and storage */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ProjectOverview"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/stats/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Files by MIME type and by classifier */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FileStats"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/stats/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Users, files and bytes of the project */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["StorageStats"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/stats/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Traffic of the last 30 days, day by day */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RequestStats"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/users/{userId}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Storage of a user, and its traffic of the last 30 days */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    userId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UserStats"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/stats/global": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Traffic, storage and image jobs of the whole installation */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["InstallationStats"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/stats/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Storage and traffic of each project */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            projects: components["schemas"]["ProjectStats"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What each user stored and did, day by day: the rows of a bill */
        get: {
            parameters: {
                query?: {
                    from?: string;
                    to?: string;
                    user_id?: string;
                    format?: "json" | "csv";
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description By date, then by user: every user for every day on which it stored anything or was active. */
                            days: components["schemas"]["UsageDay"][];
                            /**
                             * Format: date
                             * @description Days up to this one do not change any more.
                             */
                            final_until: string;
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                        "text/csv": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhooks */
        get: {
            parameters: {
                query?: {
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            webhooks: components["schemas"]["Webhook"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        /** Create a webhook */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewWebhook"];
                };
            };
            responses: {
                /** @description Created */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            webhook: components["schemas"]["Webhook"];
                            /** @description Verifies signatures. Shown only this once. */
                            secret: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/webhooks/{webhookId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a webhook */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    webhookId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            webhook: components["schemas"]["Webhook"];
                        };
                    };
                };
            };
        };
        /** Change a webhook */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    webhookId: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["WebhookChange"];
                };
            };
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            webhook: components["schemas"]["Webhook"];
                        };
                    };
                };
            };
        };
        post?: never;
        /** Delete a webhook */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    webhookId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done; no body */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/webhooks/{webhookId}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Replace the secret of a webhook */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path: {
                    webhookId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            webhook: components["schemas"]["Webhook"];
                            /** @description Verifies signatures. Shown only this once. */
                            secret: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/webhooks/{webhookId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test to a webhook */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path: {
                    webhookId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Accepted */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            delivery: components["schemas"]["WebhookDelivery"];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/webhooks/{webhookId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List deliveries of a webhook */
        get: {
            parameters: {
                query?: {
                    status?: "pending" | "succeeded" | "retrying" | "failed";
                    limit?: number;
                    cursor?: string;
                };
                header?: never;
                path: {
                    webhookId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            deliveries: components["schemas"]["WebhookDelivery"][];
                            /** @description Null on the last page. */
                            next_cursor: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/project/webhooks/{webhookId}/deliveries/{deliveryId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send an event again */
        post: {
            parameters: {
                query?: never;
                header?: {
                    "Idempotency-Key"?: string;
                };
                path: {
                    webhookId: string;
                    deliveryId: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Accepted */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            delivery: components["schemas"]["WebhookDelivery"];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reference": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Interactive API reference */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/html": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same page as /reference */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Done */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/html": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
};
export type webhooks = Record<string, never>;
export type components = {
    schemas: {
        /** @enum {string} */
        ActorType: "admin" | "project" | "integration";
        Amount: {
            /** @description Files. */
            files: number;
            /** @description Their size at upload. */
            bytes: number;
        };
        ApiKey: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            name: string | null;
            /** @description The first characters of the key, to recognize it. */
            key_prefix: string;
            active: boolean;
            /** Format: date-time */
            last_used_at: string | null;
        };
        /** @enum {string} */
        AuditAction: "auth.login" | "auth.login_failed" | "auth.logout" | "auth.password_change" | "auth.password_forgot" | "auth.password_reset" | "auth.2fa_enroll" | "auth.2fa_activate" | "auth.2fa_disable" | "auth.2fa_login" | "project.create" | "project.update" | "project.delete" | "integration.create" | "integration.update" | "integration.revoke" | "api_key.create" | "api_key.revoke" | "plan.create" | "plan.update" | "plan.delete" | "plan.assign" | "variant.create" | "variant.update" | "variant.delete" | "user.create" | "user.update" | "user.delete" | "user.plan_change" | "space.create" | "space.update" | "space.delete" | "space.login" | "space.credentials" | "token.mint" | "token.revoke" | "file.upload" | "file.update" | "file.copy" | "file.delete" | "file.trash" | "file.restore" | "file.expire" | "file.purge" | "file.download" | "folder.move" | "folder.delete" | "share.create" | "share.update" | "share.delete" | "share.download" | "file.zip" | "upload.create" | "upload.cancel" | "upload.expire" | "webhook.create" | "webhook.update" | "webhook.delete" | "webhook.rotate_secret" | "webhook.test" | "webhook.replay" | "job.failed" | "settings.update" | "stats.read" | "audit.read";
        AuditEntry: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string | null;
            actor_type: components["schemas"]["ActorType"];
            /** Format: uuid */
            actor_id: string | null;
            actor_key_id: string | null;
            /** Format: uuid */
            user_id: string | null;
            action: string;
            resource_type: string | null;
            resource_id: string | null;
            ip_address: string | null;
            user_agent: string | null;
            /** @description Old and new values on mutations. */
            metadata: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
        };
        AuditRetention: {
            /** @description A daily job purges audit rows older than this. */
            retention_days: number;
        };
        Counters: {
            /** @description Requests with a valid credential. */
            requests: number;
            /** @description Those of them with a status of 400 or more. */
            errors: number;
            /** @description Files and images stored. */
            uploads: number;
            /** @description Detail reads of a file, which return its URL. */
            downloads: number;
            /** @description Files deleted individually. */
            deletes: number;
            /** @description Bytes of the files and images stored. */
            bytes_in: number;
        };
        /** @enum {string} */
        DeliveryStatus: "pending" | "succeeded" | "retrying" | "failed";
        Error: {
            error: {
                code: components["schemas"]["ErrorCode"];
                /** @description For people: what is wrong and what to do about it. */
                message: string;
                /** @description For programs: the fields depend on the code. */
                details: {
                    issues?: components["schemas"]["Issue"][];
                    /**
                     * @description With `STORAGE_UNAVAILABLE`: the part that is down or overloaded.
                     * @enum {string}
                     */
                    part?: "database" | "storage" | "capacity";
                    /**
                     * @description With `STORAGE_UNAVAILABLE`: the change may have been made, or may still be. Check before you retry. If absent, nothing was changed.
                     * @enum {string}
                     */
                    outcome?: "unknown";
                    /**
                     * Format: uuid
                     * @description With an unknown outcome of an upload: the id of the file if it was stored.
                     */
                    file_id?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        /** @enum {string} */
        ErrorCode: "VALIDATION_ERROR" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "CONFLICT" | "GONE" | "IDEMPOTENCY_MISMATCH" | "PRECONDITION_FAILED" | "LOCKED" | "STORAGE_LIMIT_EXCEEDED" | "FILE_TOO_LARGE" | "MIME_NOT_ALLOWED" | "OVER_QUOTA" | "RATE_LIMIT_EXCEEDED" | "INTERNAL_ERROR" | "STORAGE_UNAVAILABLE";
        Event: {
            /** Format: uuid */
            id: string;
            type: components["schemas"]["EventType"];
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            user_id: string | null;
            /** @description The resource as its detail read shows it, without `url` and `url_expires_at`; its last state if it was deleted. The job of an `image.*` event. The user with `threshold`, 80 or 100, for `quota.threshold`. */
            data: {
                [key: string]: unknown;
            };
        };
        /** @enum {string} */
        EventType: "file.created" | "file.updated" | "file.deleted" | "file.trashed" | "file.restored" | "file.expired" | "image.done" | "image.failed" | "upload.expired" | "user.created" | "user.updated" | "user.deleted" | "space.created" | "space.updated" | "space.deleted" | "quota.threshold" | "share.created" | "share.revoked";
        FileChange: {
            /** @description A path such as a/b/c; the empty string is the root. Leading and trailing slashes are removed. Segments must not be empty, `.` or `..`, and must not contain control characters. */
            folder?: string | null;
            /** @description Tags are trimmed, and duplicates are removed. To filter by a tag that contains a comma, send a JSON array. */
            tags?: string[] | null;
            classifier?: string | null;
            /** @description Any JSON object of at most 16 KiB (numbers counted without exponents) and 32 levels. The name `__proto__` is not allowed. Numbers are doubles, as in JavaScript: send integers above 9007199254740991 as strings. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            visibility?: components["schemas"]["Visibility"];
            /** @description When the file is deleted, or goes to the trash if the project keeps one; null: never. A time to come. A date, or a date and time; UTC unless it has an offset. */
            expires_at?: string | null;
            /** @description Until then the file cannot be deleted, and neither can its user or project; its metadata can change. Only the project owner may set it, and only to a later time than before. A date, or a date and time; UTC unless it has an offset. */
            retain_until?: string | null;
        };
        FileDetail: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: uuid */
            user_id: string;
            /** Format: uuid */
            space_id: string | null;
            name: string;
            /** @description Of the upload. */
            size: number;
            /** @description The type of the upload. */
            mimeType: string;
            storageKey: string;
            /** @description SHA-256 of the upload, in hex. Null for a moment after a direct upload without one. */
            sha256: string | null;
            folder: string;
            tags: string[];
            classifier: string | null;
            metadata: {
                [key: string]: unknown;
            };
            visibility: components["schemas"]["Visibility"];
            /**
             * Format: date-time
             * @description When the file goes. Absent if it does not.
             */
            expires_at?: string;
            /**
             * Format: date-time
             * @description Until then the file is held. Absent if it never was.
             */
            retain_until?: string;
            compression: components["schemas"]["Job"] | null;
            /** @description Downloads the file without a credential. */
            url: string;
            /** Format: date-time */
            url_expires_at: string | null;
        };
        FileStats: {
            /** @description Most files first; at most 1000 types. */
            by_mime: {
                mime_type: string;
                /** @description Files. */
                files: number;
                /** @description Their size at upload. */
                bytes: number;
            }[];
            /** @description Most files first; at most 1000 classifiers. */
            by_classifier: {
                /** @description Null for files without one. */
                classifier: string | null;
                /** @description Files. */
                files: number;
                /** @description Their size at upload. */
                bytes: number;
            }[];
        };
        /** @enum {string} */
        ImageFormat: "webp" | "jpeg" | "png" | "avif";
        /**
         * @description `thumbnail`: format webp quality 75 width 150 height 150; `medium`: format webp quality 80 width 800; `large`: format webp quality 85 width 1920; `original`: format webp quality 90.
         * @enum {string}
         */
        ImagePreset: "thumbnail" | "medium" | "large" | "original";
        InstallationStats: {
            last_30_days: components["schemas"]["Counters"];
            /** @description 30 days, oldest first, today last, without gaps. */
            days: {
                /**
                 * Format: date
                 * @description A UTC day.
                 */
                date: string;
                /** @description Requests with a valid credential. */
                requests: number;
                /** @description Those of them with a status of 400 or more. */
                errors: number;
                /** @description Files and images stored. */
                uploads: number;
                /** @description Detail reads of a file, which return its URL. */
                downloads: number;
                /** @description Files deleted individually. */
                deletes: number;
                /** @description Bytes of the files and images stored. */
                bytes_in: number;
            }[];
            storage: {
                /** @description End-users. */
                users: number;
                /** @description Files. */
                files: number;
                /** @description Their size at upload. */
                bytes: number;
                public: components["schemas"]["Amount"];
                private: components["schemas"]["Amount"];
                trashed?: components["schemas"]["TrashedAmount"];
            };
            /** @description Projects, active or not. */
            projects: number;
            jobs: {
                /** @description Pending image jobs. */
                pending: number;
                /** @description Image jobs in progress. */
                processing: number;
                /** @description Image jobs that succeeded, of files that still exist. */
                done: number;
                /** @description Image jobs that failed for good, of files that still exist. */
                failed: number;
            };
        };
        Integration: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            name: string | null;
            /** @description Scopes; repeated ones count once. */
            scopes: components["schemas"]["Scope"][];
            /** @description Allowed origins: scheme, host and port, exactly as a browser sends them. Pages from these origins may read responses to calls with user tokens that the integration minted and space sessions that it opened; for other pages such responses have no CORS headers, but the calls are not refused. A call with the integration key itself and any other `Origin` gets 403. Preflights carry no credential and are allowed for every origin. A change takes effect with the next request, also for existing tokens. */
            corsOrigins: string[];
            /** @description For development: no rate limit, and all origins are allowed. */
            devMode: boolean;
            /** @description Requests per window. If not set, the value of the next level applies. */
            rateLimitMax: number | null;
            /** @description Length of the window in milliseconds. If not set, the value of the next level applies. */
            rateLimitWindow: number | null;
            active: boolean;
            key_prefix: string;
            /** Format: date-time */
            last_used_at: string | null;
        };
        IntegrationChange: {
            name?: string | null;
            /** @description Scopes; repeated ones count once. */
            scopes?: components["schemas"]["Scope"][];
            /** @description Allowed origins: scheme, host and port, exactly as a browser sends them. Pages from these origins may read responses to calls with user tokens that the integration minted and space sessions that it opened; for other pages such responses have no CORS headers, but the calls are not refused. A call with the integration key itself and any other `Origin` gets 403. Preflights carry no credential and are allowed for every origin. A change takes effect with the next request, also for existing tokens. */
            corsOrigins?: string[];
            devMode?: boolean;
            /** @description Requests per window. If not set, the value of the next level applies. */
            rateLimitMax?: number | null;
            /** @description Length of the window in milliseconds. If not set, the value of the next level applies. */
            rateLimitWindow?: number | null;
            /** @description If false, its key and the tokens it minted are refused. */
            active?: boolean;
        };
        /** @description One problem in a request. */
        Issue: {
            /** @description The field or parameter, such as `corsOrigins.0`; `body` for the whole body. */
            path: string;
            message: string;
            /** @description The rule that was violated, such as `required` or `maxLength`. */
            code: string;
        };
        Job: {
            /** Format: uuid */
            job_id: string;
            /** Format: uuid */
            file_id: string;
            status: components["schemas"]["JobStatus"];
            /** @description Present when done. */
            original_size?: number;
            /** @description Present when done. */
            compressed_size?: number;
            /** @description Original size divided by compressed size. */
            compression_ratio?: number;
            format?: components["schemas"]["ImageFormat"];
            width?: number;
            height?: number;
            /** @description Present when failed. */
            error?: string;
        };
        /** @enum {string} */
        JobStatus: "pending" | "processing" | "done" | "failed";
        ListedFile: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: uuid */
            user_id: string;
            /** Format: uuid */
            space_id: string | null;
            name: string;
            /** @description Of the upload. */
            size: number;
            /** @description The type of the upload. */
            mimeType: string;
            storageKey: string;
            /** @description SHA-256 of the upload, in hex. Null for a moment after a direct upload without one. */
            sha256: string | null;
            folder: string;
            tags: string[];
            classifier: string | null;
            metadata: {
                [key: string]: unknown;
            };
            visibility: components["schemas"]["Visibility"];
            /**
             * Format: date-time
             * @description When the file goes. Absent if it does not.
             */
            expires_at?: string;
            /**
             * Format: date-time
             * @description Until then the file is held. Absent if it never was.
             */
            retain_until?: string;
            compression: components["schemas"]["Job"] | null;
            /**
             * Format: date-time
             * @description When it was deleted. Only in the list of the trash.
             */
            trashed_at?: string;
            /**
             * Format: date-time
             * @description When it is deleted for good. Only in the list of the trash.
             */
            purge_at?: string;
        };
        NewIntegration: {
            name?: string | null;
            /** @description Scopes; repeated ones count once. */
            scopes?: components["schemas"]["Scope"][];
            /** @description Allowed origins: scheme, host and port, exactly as a browser sends them. Pages from these origins may read responses to calls with user tokens that the integration minted and space sessions that it opened; for other pages such responses have no CORS headers, but the calls are not refused. A call with the integration key itself and any other `Origin` gets 403. Preflights carry no credential and are allowed for every origin. A change takes effect with the next request, also for existing tokens. */
            corsOrigins?: string[];
            devMode?: boolean;
            /** @description Requests per window. If not set, the value of the next level applies. */
            rateLimitMax?: number | null;
            /** @description Length of the window in milliseconds. If not set, the value of the next level applies. */
            rateLimitWindow?: number | null;
        };
        NewPlan: {
            name: string;
            description?: string | null;
            /** @description What one user may store; unlimited when absent or null. */
            storageLimit?: number | null;
            /** @description The largest single file. */
            maxFileSize: number;
            /** @description MIME types, or type/* for all subtypes; an empty list allows every type. */
            allowedMimes?: string[] | null;
            /** @description Files that one user may have; 10000000 when absent or null. */
            maxFiles?: number | null;
            /** @description Spaces that one user may have; 1000 when absent or null. */
            maxSpaces?: number | null;
        };
        NewShare: {
            /** @description For you, to tell shares apart. Whoever opens the link does not see it. */
            name?: string | null;
            /**
             * Format: date-time
             * @description From then on the link leads to nothing. Must be in the future. Null: never.
             */
            expires_at?: string | null;
            /** @description Must be given to download. Null: none. */
            password?: string | null;
            /** @description How often the file can be downloaded. Null: without limit. */
            max_downloads?: number | null;
        };
        NewSpace: {
            /** @description Your own id for it. */
            external_id: string;
            name: string;
            /** @description Scopes; repeated ones count once. */
            scopes?: components["schemas"]["Scope"][];
            /** @description A limit within the owner's quota; null for none. */
            limit_bytes?: number | null;
            /**
             * Format: password
             * @description At most 256 bytes in UTF-8.
             */
            password?: string;
        };
        NewVariant: {
            /** @description Lower-case letters, digits and hyphens. */
            name: string;
            format: components["schemas"]["ImageFormat"];
            /** @description No effect on png, which is lossless. */
            quality?: number | null;
            /** @description Of the box, in pixels. Absent or null: any width. */
            width?: number | null;
            /** @description Of the box, in pixels. Absent or null: any height. */
            height?: number | null;
            fit?: components["schemas"]["VariantFit"];
        };
        NewWebhook: {
            /** @description Where events are posted to: http or https, at a public address. Redirects are not followed, and certificates are verified. */
            url: string;
            /** @description Only events of these types. `file.*` stands for all types of a group. Null or absent: all. */
            types?: string[] | null;
            /** @description If false, nothing is delivered. Switched on again, it continues with the event at which it stopped, as far as events are kept. */
            active?: boolean;
        };
        PendingVariant: {
            /** @enum {string} */
            status: "pending";
            /** Format: uuid */
            file_id: string;
            /** @description Lower-case letters, digits and hyphens. */
            variant: string;
        };
        Plan: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            name: string;
            description: string | null;
            /** @description What one user may store; unlimited when absent or null. */
            storageLimit: number | null;
            /** @description The largest single file. */
            maxFileSize: number;
            /** @description MIME types, or type/* for all subtypes; an empty list allows every type. */
            allowedMimes: string[];
            /** @description Files that one user may have; 10000000 when absent or null. */
            maxFiles: number | null;
            /** @description Spaces that one user may have; 1000 when absent or null. */
            maxSpaces: number | null;
            is_default: boolean;
        };
        PlanChange: {
            name?: string;
            description?: string | null;
            /** @description What one user may store; unlimited when absent or null. */
            storageLimit?: number | null;
            /** @description The largest single file. */
            maxFileSize?: number;
            /** @description MIME types, or type/* for all subtypes; an empty list allows every type. */
            allowedMimes?: string[] | null;
            /** @description Files that one user may have; 10000000 when absent or null. */
            maxFiles?: number | null;
            /** @description Spaces that one user may have; 1000 when absent or null. */
            maxSpaces?: number | null;
        };
        Project: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            name: string;
            /** Format: email */
            email: string;
            active: boolean;
            /** @description Requests per window. If not set, the value of the next level applies. */
            rateLimitMax: number | null;
            /** @description Length of the window in milliseconds. If not set, the value of the next level applies. */
            rateLimitWindow: number | null;
        };
        ProjectOverview: {
            today: components["schemas"]["Counters"];
            last_30_days: components["schemas"]["Counters"];
            storage: components["schemas"]["StorageStats"];
        };
        ProjectSettings: {
            /** @description How many days a deleted file stays in the trash. 0: there is no trash, and a deletion is final. Applies to files that are in the trash already, too. */
            trash_days: number;
        };
        ProjectStats: {
            /** Format: uuid */
            id: string;
            name: string;
            active: boolean;
            /** @description End-users. */
            users: number;
            /** @description Files. */
            files: number;
            /** @description Their size at upload. */
            bytes: number;
            /** @description Requests in the last 30 days. */
            requests_30d: number;
        };
        RateLimit: {
            /** @description Requests per window. If not set, the value of the next level applies. */
            max: number;
            /** @description Length of the window in milliseconds. If not set, the value of the next level applies. */
            window_ms: number;
        };
        RequestStats: {
            /** @description 30 days, oldest first, today last, without gaps. */
            days: {
                /**
                 * Format: date
                 * @description A UTC day.
                 */
                date: string;
                /** @description Requests with a valid credential. */
                requests: number;
                /** @description Those of them with a status of 400 or more. */
                errors: number;
                /** @description Files and images stored. */
                uploads: number;
                /** @description Detail reads of a file, which return its URL. */
                downloads: number;
                /** @description Files deleted individually. */
                deletes: number;
                /** @description Bytes of the files and images stored. */
                bytes_in: number;
            }[];
        };
        /** @enum {string} */
        Scope: "users:read" | "users:write" | "files:read" | "files:write" | "files:delete" | "files:share" | "plans:read" | "plans:assign" | "stats:read" | "spaces:login" | "events:read";
        Session: {
            /** @enum {string} */
            role: "project" | "admin";
            /** Format: uuid */
            id: string;
            /** Format: email */
            email: string;
            name: string | null;
            /** Format: uuid */
            project_id: string | null;
            two_factor_enabled: boolean;
            /** Format: date-time */
            expires_at: string;
        };
        Share: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: uuid */
            file_id: string;
            /** @description For you, to tell shares apart. Whoever opens the link does not see it. */
            name: string | null;
            /** Format: date-time */
            expires_at: string | null;
            has_password: boolean;
            /** @description How often the file can be downloaded. Null: without limit. */
            max_downloads: number | null;
            /** @description Downloads so far. One that was interrupted and resumed counts once. */
            downloads: number;
            /** Format: date-time */
            last_used_at: string | null;
            /** @description If false, the link leads to nothing until it is true again. */
            active: boolean;
        };
        ShareChange: {
            /** @description For you, to tell shares apart. Whoever opens the link does not see it. */
            name?: string | null;
            /**
             * Format: date-time
             * @description From then on the link leads to nothing. Must be in the future. Null: never.
             */
            expires_at?: string | null;
            /** @description Must be given to download. Null: none. */
            password?: string | null;
            /** @description How often the file can be downloaded. Null: without limit. */
            max_downloads?: number | null;
            /** @description If false, the link leads to nothing until it is true again. */
            active?: boolean;
        };
        Space: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: uuid */
            user_id: string;
            /** @description Your own id for it. */
            external_id: string;
            name: string;
            /** @description Scopes; repeated ones count once. */
            scopes: components["schemas"]["Scope"][];
            /** @description A limit within the owner's quota; null for none. */
            limit_bytes: number | null;
            /** @description Bytes stored in the space now. */
            used_bytes: number;
            /** @description Bytes reserved in the space for unfinished uploads. The limit applies to both together. */
            reserved_bytes: number;
            active: boolean;
            /** @description Whether the space can log in. If false, set a password with `PUT …/credentials`. */
            has_password: boolean;
        };
        SpaceChange: {
            name?: string;
            /** @description Scopes; repeated ones count once. */
            scopes?: components["schemas"]["Scope"][];
            /** @description A limit within the owner's quota; null for none. */
            limit_bytes?: number | null;
            active?: boolean;
        };
        SpaceToken: {
            token: string;
            /** Format: uuid */
            jti: string;
            /** Format: uuid */
            space_id: string;
            /** Format: uuid */
            user_id: string;
            /** @description Scopes; repeated ones count once. */
            scopes: components["schemas"]["Scope"][];
            /** Format: date-time */
            expires_at: string;
        };
        StorageSnapshot: {
            /** @description Bytes stored now. */
            storageUsed: number;
            /** @description Bytes reserved for unfinished uploads. */
            storageReserved: number;
            /** @description Limit of the plan; null for unlimited. */
            storageLimit: number | null;
            /** @description Bytes left after those used and reserved; null for unlimited. */
            storageAvailable: number | null;
            /** @description Used percentage of the limit; 0 for unlimited. */
            usagePercent: number;
            /** @description True if more is stored than the plan allows, for example after a change of plan. */
            overQuota: boolean;
        };
        StorageStats: {
            /** @description End-users. */
            users: number;
            /** @description Files. */
            files: number;
            /** @description Their size at upload. */
            bytes: number;
            public: components["schemas"]["Amount"];
            private: components["schemas"]["Amount"];
            trashed?: components["schemas"]["TrashedAmount"];
            /** @description Users that store more than their plan allows. */
            over_quota_users: number;
        };
        StoredFile: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: uuid */
            user_id: string;
            /** Format: uuid */
            space_id: string | null;
            name: string;
            /** @description Of the upload. */
            size: number;
            /** @description The type of the upload. */
            mimeType: string;
            storageKey: string;
            /** @description SHA-256 of the upload, in hex. Null for a moment after a direct upload without one. */
            sha256: string | null;
            folder: string;
            tags: string[];
            classifier: string | null;
            metadata: {
                [key: string]: unknown;
            };
            visibility: components["schemas"]["Visibility"];
            /**
             * Format: date-time
             * @description When the file goes. Absent if it does not.
             */
            expires_at?: string;
            /**
             * Format: date-time
             * @description Until then the file is held. Absent if it never was.
             */
            retain_until?: string;
            compression: components["schemas"]["Job"] | null;
        };
        TrashedAmount: {
            /** @description Files in the trash. */
            files: number;
            /** @description Their size at upload. */
            bytes: number;
        };
        Upload: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** Format: uuid */
            user_id: string;
            /** Format: uuid */
            space_id: string | null;
            status: components["schemas"]["UploadStatus"];
            mode: components["schemas"]["UploadMode"];
            name: string;
            /** @description Of the file; null while the client has not said it. */
            size: number | null;
            /** @description The bytes before this one are stored: go on from here. Always 0 for a direct upload that is not completed. */
            offset: number;
            mimeType: string;
            /** @description Of all parts but the last. Only of a direct upload. */
            part_size?: number;
            /** @description Where the bytes go. Only in the answer that creates a resumable upload: whoever has it can upload without a credential. */
            url?: string;
            /** Format: uuid */
            file_id?: string;
            error?: {
                code: string;
                message: string;
            };
            /** Format: date-time */
            expires_at: string;
        };
        /** @enum {string} */
        UploadMode: "resumable" | "direct";
        /** @enum {string} */
        UploadStatus: "uploading" | "completed" | "failed" | "expired" | "cancelled";
        UsageDay: {
            /**
             * Format: date
             * @description A UTC day.
             */
            date: string;
            /** Format: uuid */
            user_id: string;
            /** @description The most that the user stored at any moment of the day. */
            bytes_max: number;
            /** @description What the user stored at the end of the day, or stores now. */
            bytes_end: number;
            /** @description Files and images stored. */
            uploads: number;
            /** @description Detail reads of a file, which return its URL. */
            downloads: number;
            /** @description Bytes of the files and images stored. */
            bytes_in: number;
        };
        User: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Your own id for it. */
            external_id: string;
            active: boolean;
            plan: components["schemas"]["Plan"] | null;
            /** @description Bytes stored now. */
            storageUsed: number;
            /** @description Bytes reserved for unfinished uploads. */
            storageReserved: number;
            /** @description Limit of the plan; null for unlimited. */
            storageLimit: number | null;
            /** @description Bytes left after those used and reserved; null for unlimited. */
            storageAvailable: number | null;
            /** @description Used percentage of the limit; 0 for unlimited. */
            usagePercent: number;
            /** @description True if more is stored than the plan allows, for example after a change of plan. */
            overQuota: boolean;
        };
        UserStats: {
            /** Format: uuid */
            user_id: string;
            /** @description Files of the user, or of the space for a space token. */
            files: number;
            /** @description Their size at upload. */
            bytes: number;
            storage: components["schemas"]["StorageSnapshot"];
            last_30_days: components["schemas"]["Counters"];
        };
        UserToken: {
            token: string;
            /** Format: uuid */
            jti: string;
            /** Format: uuid */
            user_id: string;
            /** @description Scopes; repeated ones count once. */
            scopes: components["schemas"]["Scope"][];
            /** Format: date-time */
            expires_at: string;
        };
        Variant: {
            /** @description Lower-case letters, digits and hyphens. */
            name: string;
            format: components["schemas"]["ImageFormat"];
            /** @description No effect on png, which is lossless. */
            quality: number;
            /** @description Of the box, in pixels. Absent or null: any width. */
            width: number | null;
            /** @description Of the box, in pixels. Absent or null: any height. */
            height: number | null;
            fit: components["schemas"]["VariantFit"];
            /** @description Counts the changes. Images are made anew after each. */
            version: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        VariantChange: {
            format?: components["schemas"]["ImageFormat"];
            /** @description No effect on png, which is lossless. */
            quality?: number | null;
            /** @description Of the box, in pixels. Absent or null: any width. */
            width?: number | null;
            /** @description Of the box, in pixels. Absent or null: any height. */
            height?: number | null;
            fit?: components["schemas"]["VariantFit"];
        };
        /**
         * @description `inside` scales the image down until it fits into the box, and never enlarges it. `cover` fills the box exactly: it needs both sides, cuts off what is outside, and enlarges a small image.
         * @enum {string}
         */
        VariantFit: "inside" | "cover";
        VariantImage: {
            /**
             * Format: uri
             * @description Delivers the image without a credential, as in `<img src>`. It ends early when the file or the variant changes or goes, or when the image was not used for long: ask again then.
             */
            url: string;
            /** Format: date-time */
            url_expires_at: string;
            width: number;
            height: number;
            /** @description In bytes. */
            size: number;
        };
        /** @enum {string} */
        Visibility: "private" | "public";
        Webhook: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            /** @description Where events are posted to: http or https, at a public address. Redirects are not followed, and certificates are verified. */
            url: string;
            /** @description Only events of these types. `file.*` stands for all types of a group. Null or absent: all. */
            types: string[] | null;
            /** @description If false, nothing is delivered. Switched on again, it continues with the event at which it stopped, as far as events are kept. */
            active: boolean;
            /**
             * @description Why the service has switched it off: the receiver answered 410, or every try failed for 3 days.
             * @enum {string|null}
             */
            disabled_reason: "gone" | "failing" | null;
            /** Format: date-time */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description Until then, replaced secrets sign as well.
             */
            previous_secret_until: string | null;
        };
        WebhookChange: {
            /** @description Where events are posted to: http or https, at a public address. Redirects are not followed, and certificates are verified. */
            url?: string;
            /** @description Only events of these types. `file.*` stands for all types of a group. Null or absent: all. */
            types?: string[] | null;
            /** @description If false, nothing is delivered. Switched on again, it continues with the event at which it stopped, as far as events are kept. */
            active?: boolean;
        };
        WebhookDelivery: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description Of the event, and the `webhook-id` of every try.
             */
            event_id: string;
            type: string;
            status: components["schemas"]["DeliveryStatus"];
            /** @description Tries so far. */
            attempts: number;
            /** @description Of the last try; null if no answer came. */
            response_status: number | null;
            /** @description The first 1,024 bytes of the last answer. */
            response_body: string | null;
            /** @description Of the last try. */
            duration_ms: number | null;
            /** @description Why the last try failed. */
            error: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            next_try_at: string | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
};
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
