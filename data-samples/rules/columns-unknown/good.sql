CREATE TABLE public.messages (
    message_id uuid NOT NULL,
    thread_id uuid,
    type text NOT NULL,
    is_llm_message boolean DEFAULT true NOT NULL,
    content jsonb NOT NULL,
    metadata jsonb,
    created_at timestamp with time zone NOT NULL
);

INSERT INTO public.messages VALUES ('00000000-0000-4000-8000-000000000001', '11111111-1111-4111-8111-111111111111', 'user', true, '{"role": "user", "content": "Is the ferry late?"}', '{}', '2025-06-01 09:00:00+00');
INSERT INTO public.messages VALUES ('00000000-0000-4000-8000-000000000002', '11111111-1111-4111-8111-111111111111', 'assistant', true, '{"role": "assistant", "content": "By ten minutes."}', '{}', '2025-06-01 09:00:05+00');
