-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
-- Host: localhost    Database: chat
-- ------------------------------------------------------
-- Server version	8.0.36

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;
/*!40000 ALTER TABLE `x` DISABLE KEYS */;

--
-- Table structure for table `messages`
--

DROP TABLE IF EXISTS `messages`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
CREATE TABLE `messages` (
  `message_id` longtext,
  `thread_id` longtext,
  `type` longtext,
  `is_llm_message` longtext,
  `content` longtext,
  `metadata` longtext,
  `raw` longtext,
  `blob` longtext,
  `agent_id` longtext,
  `agent_version_id` longtext,
  `tags` longtext,
  `created_at` longtext,
  `updated_at` longtext,
  PRIMARY KEY (`message_id`(36)),
  KEY `by_thread` (`thread_id`(36))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='rows; of (chats';

--
-- Dumping data for table `messages`
--

LOCK TABLES `messages` WRITE;
/*!40000 ALTER TABLE `messages` DISABLE KEYS */;
INSERT INTO `messages` VALUES ('00000000-0000-0000-0000-000000000001','11111111-1111-1111-1111-111111111111','user','t','\"{\\\"role\\\": \\\"user\\\", \\\"content\\\": \\\"Hello!\\\"}\"','{}','tab	here newline\nback\\slash \\N cr\r end','\\x00ff5c0a',NULL,NULL,'{a,\"b\\\"c\",\"d,e\",\"NULL\",NULL,\"\"}','2025-05-22 08:00:01.5+00','2025-05-22 08:00:01.5+00'),('00000000-0000-0000-0000-000000000002','11111111-1111-1111-1111-111111111111','assistant','t','{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"id\": \"call_1\", \"type\": \"function\", \"function\": {\"name\": \"web_search\", \"arguments\": \"{\\\"query\\\": \\\"O\'Brien \\\\\\\"x\\\\\\\"\\\"}\"}}]}',NULL,'\\.',NULL,NULL,NULL,'{}','2025-05-22 10:00:02+00',NULL),('00000000-0000-0000-0000-000000000003','11111111-1111-1111-1111-111111111111','tool','t','{\"name\": \"web_search\", \"role\": \"tool\", \"content\": \"{\\\"ok\\\":true,\\\"n\\\":12345678901234567890}\", \"tool_call_id\": \"call_1\"}','{\"tool_call_id\": \"call_1\"}','it\'s; a \"quote\" -- not comment',NULL,NULL,NULL,NULL,'2025-05-22 10:00:03+00',NULL),('00000000-0000-0000-0000-000000000004','11111111-1111-1111-1111-111111111111','status','f','{\"a\": 2, \"z\": 1, \"dup\": 2, \"status_type\": \"thread_run_start\"}',NULL,'emoji 😀 é   end',NULL,NULL,NULL,NULL,'2025-05-22 10:00:04+00',NULL),('00000000-0000-0000-0000-000000000005','11111111-1111-1111-1111-111111111111','user','t','\"Hello! (truncated)...\"','{\"compressed\": true, \"compressed_content\": \"Hello! (truncated)...\"}','',NULL,NULL,NULL,NULL,'2025-05-22 10:00:05+00',NULL);
/*!40000 ALTER TABLE `messages` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Dumping routines for database 'chat'
--
DELIMITER ;;
CREATE PROCEDURE `fill`()
BEGIN
  INSERT INTO messages VALUES (1);
END ;;
DELIMITER ;

-- Dump completed on 2025-11-20 10:00:00
